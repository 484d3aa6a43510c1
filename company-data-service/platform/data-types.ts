import type { Platform as PlatformEntry } from '../../platforms/platforms';

/**
 * The types of the data sets that the service reads, in alphabetical order. The specification does not list them, so
 * these are the names that client libraries of comparable services use. Except in tests and benchmarks, the
 * orchestrator's code contains only `invoices`, and takes the other names from the service's responses.
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
