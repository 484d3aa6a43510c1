/**
 * Generates the books of a sandbox organization. The same organization and number of invoices always give the same
 * records.
 */
import type { z } from 'zod';
import { guidOf } from '../../digests';
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
    case 'chartOfAccounts':
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
  const fields = GENERATORS[dataType]({ organizationId, index, invoices, id, createdAt });
  return { id, createdAt, fields };
}

/**
 * Returns the fields of a pushed record. The platform fills in missing fields and ignores unknown ones.
 *
 * @param position `index` is the number of records that exist already
 */
export function newRecord(
  dataType: DataType,
  position: Omit<Position, 'invoices'>,
  given: Readonly<Record<string, unknown>>,
): PlatformRecord['fields'] {
  const schema: z.ZodObject = RECORD_SCHEMAS[dataType];
  const known = schema.partial().parse(given);
  const generated = GENERATORS[dataType]({ ...position, invoices: position.index });
  return {
    ...generated,
    ...NEW_STATUS[dataType],
    ...amountsOf(schema, { ...generated, ...totalIn(known) }),
    ...known,
    id: position.id,
    modifiedDate: position.createdAt.toISOString(),
  };
}

/** Returns the total of a pushed record, if its amounts determine one. */
function totalIn({ totalAmount, subTotal, taxAmount }: Readonly<Record<string, unknown>>) {
  if (typeof totalAmount === 'number') return { totalAmount };
  if (typeof subTotal === 'number' && typeof taxAmount === 'number') return { totalAmount: subTotal + taxAmount };
  return {};
}

/** Returns the amounts of a new document with this total. The whole total is due. */
function amountsOf({ shape }: z.ZodObject, { totalAmount }: { readonly totalAmount?: number }) {
  if (totalAmount === undefined) return {};
  const taxAmount = taxIn(totalAmount);
  const amounts = { totalAmount, amountDue: totalAmount, totalTaxAmount: taxAmount, subTotal: totalAmount - taxAmount };
  const known = Object.entries({ ...amounts, taxAmount }).filter(([name]) => name in shape);
  return Object.fromEntries(known);
}

/** The status of a new document, which has no payments yet. */
const NEW_STATUS: { readonly [Type in DataType]?: Partial<RecordOf<Type>> } = {
  invoices: { status: 'Submitted' },
  bills: { status: 'Open' },
};

interface Position {
  readonly organizationId: string;
  readonly index: number;
  readonly invoices: number;
  readonly id: string;
  readonly createdAt: Date;
}

const GENERATORS: { readonly [Type in DataType]: (position: Position) => RecordOf<Type> } = {
  invoices: (position) => {
    const status = cycle(position.index, [
      'Paid',
      'Submitted',
      'Paid',
      'PartiallyPaid',
      'Paid',
      'Draft',
      'Paid',
      'Void',
    ]);
    const document = documentAt(
      position,
      status === 'Paid' || status === 'Void' ? 0 : status === 'PartiallyPaid' ? 0.5 : 1,
    );
    return {
      ...document,
      totalTaxAmount: taxIn(document.totalAmount),
      invoiceNumber: `INV-${numbered(position.index)}`,
      status,
      customerRef: referenceTo('customers', position),
    };
  },
  bills: (position) => {
    const status = cycle(position.index, ['Paid', 'Open', 'PartiallyPaid', 'Paid', 'Void']);
    const document = documentAt(position, status === 'Open' ? 1 : status === 'PartiallyPaid' ? 0.5 : 0);
    const taxAmount = taxIn(document.totalAmount);
    return {
      ...document,
      subTotal: document.totalAmount - taxAmount,
      taxAmount,
      reference: `BILL-${numbered(position.index)}`,
      status,
      supplierRef: referenceTo('suppliers', position),
    };
  },
  customers: (position) => partyAt('Customer', position),
  suppliers: (position) => partyAt('Supplier', position),
  payments: (position) => ({
    ...common(position),
    date: position.createdAt.toISOString(),
    currency: CURRENCY,
    totalAmount: amountAt(position.index),
    customerRef: referenceTo('customers', position),
  }),
  chartOfAccounts: (position) => ({
    ...common(position),
    nominalCode: String(1000 + position.index * 10),
    name: `Account ${1000 + position.index * 10}`,
    type: cycle(position.index, ['Asset', 'Liability', 'Income', 'Expense', 'Equity']),
    currency: CURRENCY,
    currentBalance: amountAt(position.index),
  }),
  items: (position) => ({
    ...common(position),
    code: `ITEM-${numbered(position.index)}`,
    name: `Item ${position.index + 1}`,
    type: cycle(position.index, ['Inventory', 'Service', 'NonInventory']),
    unitPrice: amountAt(position.index),
    isActive: position.index % 4 !== 3,
  }),
};

function common({ id, createdAt }: Position): { id: string; modifiedDate: string } {
  return { id, modifiedDate: createdAt.toISOString() };
}

function documentAt(position: Position, shareDue: number) {
  const totalAmount = amountAt(position.index);
  return {
    ...common(position),
    issueDate: position.createdAt.toISOString(),
    dueDate: new Date(position.createdAt.getTime() + 30 * DAY_MS).toISOString(),
    currency: CURRENCY,
    totalAmount,
    amountDue: totalAmount * shareDue,
  };
}

function partyAt(kind: 'Customer' | 'Supplier', position: Position): RecordOf<'customers'> {
  return {
    ...common(position),
    name: `${kind} ${position.index + 1}`,
    emailAddress: `${kind.toLowerCase()}.${position.index + 1}@example.com`,
    defaultCurrency: CURRENCY,
    status: position.index % 6 === 5 ? 'Archived' : 'Active',
  };
}

function referenceTo(dataType: 'customers' | 'suppliers', { organizationId, index, invoices }: Position) {
  const count = Math.max(1, recordCount(dataType, invoices));
  const name = `${dataType === 'customers' ? 'Customer' : 'Supplier'} ${(index % count) + 1}`;
  return { id: idAt(organizationId, dataType, index % count), name };
}

function idAt(organizationId: string, dataType: DataType, index: number): string {
  return guidOf(`${organizationId}/${dataType}/${index}`);
}

/** Returns an even amount, so that half of it is a whole number, too. */
function amountAt(index: number): number {
  return 100 + (index % 50) * 24;
}

/** Returns the tax in a total, rounded down: at a tax rate of 20%, a sixth of the total. */
function taxIn(totalAmount: number): number {
  return Math.floor(totalAmount / 6);
}

function numbered(index: number): string {
  return String(index + 1).padStart(6, '0');
}

function cycle<const Value>(index: number, values: readonly [Value, ...Value[]]): Value {
  return values[index % values.length] ?? values[0];
}
