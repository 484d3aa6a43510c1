import type { Platform as PlatformEntry } from '../../platforms/platforms';

/** The data sets that the service reads, in alphabetical order. */
export const DATA_TYPES = ['accounts', 'bills', 'customers', 'invoices', 'items', 'payments', 'suppliers'] as const;
export type DataType = (typeof DATA_TYPES)[number];

export function isDataType(name: string): name is DataType {
  return (DATA_TYPES as readonly string[]).includes(name);
}

const BY_SOURCE: Record<PlatformEntry['sourceType'], readonly DataType[]> = {
  Accounting: DATA_TYPES,
  Commerce: ['customers', 'invoices', 'items', 'payments'],
  Banking: ['accounts', 'payments'],
};

/** Returns the data types of a platform. A company's organization can have fewer. */
export function dataTypesOf(platform: PlatformEntry): readonly DataType[] {
  return BY_SOURCE[platform.sourceType];
}
