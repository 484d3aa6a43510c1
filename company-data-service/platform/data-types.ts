import type { Platform as PlatformEntry } from '../../platforms/platforms';

/**
 * The data sets that the service reads, in alphabetical order. They are named as in the official clients of this kind of
 * API. Other code takes the names from here or from the service's responses; the orchestrator itself names `invoices`.
 */
export const DATA_TYPES = [
  'bills',
  'chartOfAccounts',
  'customers',
  'invoices',
  'items',
  'payments',
  'suppliers',
] as const;
export type DataType = (typeof DATA_TYPES)[number];

export function isDataType(name: string): name is DataType {
  return (DATA_TYPES as readonly string[]).includes(name);
}

const BY_SOURCE: Record<PlatformEntry['sourceType'], readonly DataType[]> = {
  Accounting: DATA_TYPES,
  Commerce: ['customers', 'invoices', 'items', 'payments'],
  Banking: ['chartOfAccounts', 'payments'],
};

/** Returns the data types of a platform. A company's organization can have fewer. */
export function dataTypesOf(platform: PlatformEntry): readonly DataType[] {
  return BY_SOURCE[platform.sourceType];
}
