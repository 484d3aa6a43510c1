/** The schemas of the records of each data type, the same for all platforms. */
import { z } from 'zod';
import type { DataType } from './data-types';

/** No platform has longer texts in these fields. Without a limit, a page of records could be of any size. */
const MAX_TEXT = 1_000;
const Text = z.string().max(MAX_TEXT);

const Common = { id: z.string(), modifiedDate: z.iso.datetime() };
const Reference = z.object({ id: Text, name: Text.optional() });
const Currency = z.string().length(3).describe('ISO 4217');
const Amount = z.number().describe('In the currency of the record.');

const Document = {
  ...Common,
  issueDate: z.iso.datetime(),
  dueDate: z.iso.datetime(),
  currency: Currency,
  totalAmount: Amount,
  amountDue: Amount,
};

const InvoiceSchema = z.object({
  ...Document,
  invoiceNumber: Text,
  totalTaxAmount: Amount.describe('Part of `totalAmount`.'),
  status: z.enum(['Draft', 'Submitted', 'PartiallyPaid', 'Paid', 'Void']),
  customerRef: Reference,
});

const BillSchema = z.object({
  ...Document,
  reference: Text,
  subTotal: Amount.describe('Without tax.'),
  taxAmount: Amount,
  status: z.enum(['Open', 'PartiallyPaid', 'Paid', 'Void']),
  supplierRef: Reference,
});

const PartySchema = z.object({
  ...Common,
  name: Text,
  emailAddress: Text,
  defaultCurrency: Currency,
  status: z.enum(['Active', 'Archived']),
});

const PaymentSchema = z.object({
  ...Common,
  date: z.iso.datetime(),
  currency: Currency,
  totalAmount: Amount,
  customerRef: Reference,
});

const AccountSchema = z.object({
  ...Common,
  nominalCode: Text,
  name: Text,
  type: z.enum(['Asset', 'Liability', 'Income', 'Expense', 'Equity']),
  currency: Currency,
  currentBalance: Amount,
});

const ItemSchema = z.object({
  ...Common,
  code: Text,
  name: Text,
  type: z.enum(['Inventory', 'NonInventory', 'Service']),
  unitPrice: Amount,
  isActive: z.boolean(),
});

/**
 * The record schema of every data type. Lists can be filtered by its scalar fields: by the top-level ones with a
 * parameter of the same name, and by all of them with `query`.
 */
export const RECORD_SCHEMAS = {
  bills: BillSchema,
  chartOfAccounts: AccountSchema,
  customers: PartySchema,
  invoices: InvoiceSchema,
  items: ItemSchema,
  payments: PaymentSchema,
  suppliers: PartySchema,
} as const satisfies Record<DataType, z.ZodObject>;

export type RecordOf<Type extends DataType> = z.infer<(typeof RECORD_SCHEMAS)[Type]>;
