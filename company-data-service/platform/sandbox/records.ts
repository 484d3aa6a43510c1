/** Generates the books of a sandbox organization: the same organization always has the same records. */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { DataType } from '../data-types';
import type { PlatformRecord } from '../platform';
import { RECORD_SCHEMAS, type RecordOf } from '../record-schemas';

const BOOKS_BEGIN = Date.UTC(2025, 0, 1);
const DAY_MS = 86_400_000;
const CURRENCY = 'USD';
const NOMINAL_ACCOUNTS = 12;

/** Returns the number of records of a data type in an organization with `invoices` invoices. */
export function recordCount(dataType: DataType, invoices: number): number {
  switch (dataType) {
    case 'invoices':
      return invoices;
    case 'accounts':
      return NOMINAL_ACCOUNTS;
    case 'bills':
    case 'payments':
      return Math.ceil(invoices / 2);
    case 'customers':
      return Math.ceil(invoices / 4);
    case 'suppliers':
    case 'items':
      return Math.ceil(invoices / 5);
  }
}

/** Returns record number `index` (from 0) of a data type. */
export function recordAt(organizationId: string, dataType: DataType, index: number, invoices: number): PlatformRecord {
  const id = idAt(organizationId, dataType, index);
  const createdAt = new Date(BOOKS_BEGIN + index * DAY_MS);
  const fields = SHAPES[dataType]({ organizationId, index, invoices, id, createdAt });
  return { id, createdAt, fields };
}

/**
 * Returns the fields of a created record. The platform fills in missing fields and ignores unknown ones.
 *
 * @param index number of records before it
 */
export function newRecord(
  dataType: DataType,
  place: Omit<Place, 'invoices'>,
  given: Readonly<Record<string, unknown>>,
): PlatformRecord['fields'] {
  const schema: z.ZodObject = RECORD_SCHEMAS[dataType];
  const { totalAmount, ...known } = schema.partial().parse(given);
  return {
    ...SHAPES[dataType]({ ...place, invoices: place.index }),
    ...NEW_STATUS[dataType],
    ...(totalAmount !== undefined && { totalAmount, ...('amountDue' in schema.shape && { amountDue: totalAmount }) }),
    ...known,
    id: place.id,
    modifiedDate: place.createdAt.toISOString(),
  };
}

/** A new document has no payments. */
const NEW_STATUS: { readonly [Type in DataType]?: Partial<RecordOf<Type>> } = {
  invoices: { status: 'Submitted' },
  bills: { status: 'Open' },
};

interface Place {
  readonly organizationId: string;
  readonly index: number;
  readonly invoices: number;
  readonly id: string;
  readonly createdAt: Date;
}

const SHAPES: { readonly [Type in DataType]: (place: Place) => RecordOf<Type> } = {
  invoices: (place) => {
    const status = cycle(place.index, ['Paid', 'Submitted', 'Paid', 'PartiallyPaid', 'Paid', 'Draft', 'Paid', 'Void']);
    return {
      ...documentAt(place, status === 'Paid' || status === 'Void' ? 0 : status === 'PartiallyPaid' ? 0.5 : 1),
      invoiceNumber: `INV-${numbered(place.index)}`,
      status,
      customerRef: referenceTo('customers', place),
    };
  },
  bills: (place) => {
    const status = cycle(place.index, ['Paid', 'Open', 'PartiallyPaid', 'Paid', 'Void']);
    return {
      ...documentAt(place, status === 'Open' ? 1 : status === 'PartiallyPaid' ? 0.5 : 0),
      reference: `BILL-${numbered(place.index)}`,
      status,
      supplierRef: referenceTo('suppliers', place),
    };
  },
  customers: (place) => partyAt('Customer', place),
  suppliers: (place) => partyAt('Supplier', place),
  payments: (place) => ({
    ...common(place),
    date: place.createdAt.toISOString(),
    currency: CURRENCY,
    totalAmount: amountAt(place.index),
    customerRef: referenceTo('customers', place),
  }),
  accounts: (place) => ({
    ...common(place),
    nominalCode: String(1000 + place.index * 10),
    name: `Account ${1000 + place.index * 10}`,
    type: cycle(place.index, ['Asset', 'Liability', 'Income', 'Expense', 'Equity']),
    currency: CURRENCY,
    currentBalance: amountAt(place.index),
  }),
  items: (place) => ({
    ...common(place),
    code: `ITEM-${numbered(place.index)}`,
    name: `Item ${place.index + 1}`,
    type: cycle(place.index, ['Inventory', 'Service', 'NonInventory']),
    unitPrice: amountAt(place.index),
    isActive: place.index % 4 !== 3,
  }),
};

function common({ id, createdAt }: Place): { id: string; modifiedDate: string } {
  return { id, modifiedDate: createdAt.toISOString() };
}

function documentAt(place: Place, shareDue: number) {
  const totalAmount = amountAt(place.index);
  return {
    ...common(place),
    issueDate: place.createdAt.toISOString(),
    dueDate: new Date(place.createdAt.getTime() + 30 * DAY_MS).toISOString(),
    currency: CURRENCY,
    totalAmount,
    amountDue: totalAmount * shareDue,
  };
}

function partyAt(kind: 'Customer' | 'Supplier', place: Place): RecordOf<'customers'> {
  return {
    ...common(place),
    name: `${kind} ${place.index + 1}`,
    emailAddress: `${kind.toLowerCase()}.${place.index + 1}@example.com`,
    defaultCurrency: CURRENCY,
    status: place.index % 6 === 5 ? 'Archived' : 'Active',
  };
}

function referenceTo(dataType: 'customers' | 'suppliers', { organizationId, index, invoices }: Place) {
  const others = Math.max(1, recordCount(dataType, invoices));
  const name = `${dataType === 'customers' ? 'Customer' : 'Supplier'} ${(index % others) + 1}`;
  return { id: idAt(organizationId, dataType, index % others), name };
}

function idAt(organizationId: string, dataType: DataType, index: number): string {
  const hex = createHash('sha256').update(`${organizationId}/${dataType}/${index}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Even, so that half of it is a whole number of cents. */
function amountAt(index: number): number {
  return 100 + (index % 50) * 24;
}

function numbered(index: number): string {
  return String(index + 1).padStart(6, '0');
}

function cycle<const Value>(index: number, values: readonly [Value, ...Value[]]): Value {
  return values[index % values.length] ?? values[0];
}
