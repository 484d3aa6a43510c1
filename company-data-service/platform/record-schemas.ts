/** The schemas of the records of each data type, the same for all platforms. */
import { z } from 'zod';
import type { DataType } from './data-types';

const Common = { id: z.string(), modifiedDate: z.iso.datetime() };
const Reference = z.object({ id: z.string(), name: z.string().optional() });
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
  invoiceNumber: z.string(),
  status: z.enum(['Draft', 'Submitted', 'PartiallyPaid', 'Paid', 'Void']),
  customerRef: Reference,
});

const BillSchema = z.object({
  ...Document,
  reference: z.string(),
  status: z.enum(['Open', 'PartiallyPaid', 'Paid', 'Void']),
  supplierRef: Reference,
});

const PartySchema = z.object({
  ...Common,
  name: z.string(),
  emailAddress: z.string(),
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
  nominalCode: z.string(),
  name: z.string(),
  type: z.enum(['Asset', 'Liability', 'Income', 'Expense', 'Equity']),
  currency: Currency,
  currentBalance: Amount,
});

const ItemSchema = z.object({
  ...Common,
  code: z.string(),
  name: z.string(),
  type: z.enum(['Inventory', 'NonInventory', 'Service']),
  unitPrice: Amount,
  isActive: z.boolean(),
});

/**
 * The record schema of every data type. Lists can be filtered by its scalar fields: by the top-level ones with a
 * parameter of the same name, and by all of them with `query`.
 */
export const RECORD_SCHEMAS = {
  accounts: AccountSchema,
  bills: BillSchema,
  customers: PartySchema,
  invoices: InvoiceSchema,
  items: ItemSchema,
  payments: PaymentSchema,
  suppliers: PartySchema,
} as const satisfies Record<DataType, z.ZodObject>;

export type RecordOf<Type extends DataType> = z.infer<(typeof RECORD_SCHEMAS)[Type]>;
