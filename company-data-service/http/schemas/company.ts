import { z } from 'zod';
import { DATA_TYPES } from '../../platform/data-types';
import { ConnectionSchema } from './connection';

// Without these limits, a page of 5,000 companies could be of any size.
const MAX_NAME = 200;
const MAX_DESCRIPTION = 1_000;
const MAX_TAG_TEXT = 100;

/** Removes characters that some platforms do not support. */
const NameSchema = z
  .string()
  .max(MAX_NAME)
  .transform((name) => name.replace(/[^A-Za-z0-9 \-',&@.,?!]/g, '').trim())
  .refine((name) => name !== '', "must contain a letter (A-Z, a-z), a digit or one of -',&@.?!")
  .meta({ pattern: "[A-Za-z0-9\\-',&@.?!]" });

const DescriptionSchema = z.string().max(MAX_DESCRIPTION).nullish();

const TagsSchema = z
  .record(z.string().max(MAX_TAG_TEXT), z.string().max(MAX_TAG_TEXT))
  .refine((tags) => Object.keys(tags).length <= 10, 'has more than 10 entries')
  .meta({ maxProperties: 10 });

export const CompanyBodySchema = z.object({
  name: NameSchema,
  description: DescriptionSchema,
  tags: TagsSchema.optional(),
});

export const CompanyPatchSchema = CompanyBodySchema.partial();
export type CompanyPatch = z.infer<typeof CompanyPatchSchema>;

export const CompanySchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    redirect: z.url().describe('The page where the end customer authorizes the company’s connections.'),
    description: z.string().optional(),
    lastSync: z.iso.datetime().optional(),
    created: z.iso.datetime(),
    createdByUserName: z.string().nullable(),
    products: z.array(z.string()),
    tags: z.record(z.string(), z.string()),
    dataConnections: z.array(ConnectionSchema),
  })
  .meta({ id: 'Company' });
export type CompanyView = z.infer<typeof CompanySchema>;

const HOURS_OF_A_YEAR = 8_760;

const SyncSettingSchema = z.object({
  dataType: z.enum(DATA_TYPES),
  fetchOnFirstLink: z
    .boolean()
    .describe('Sync when the end customer first links the connection. Ignored for migrated credentials.'),
  syncSchedule: z.int().min(0).max(HOURS_OF_A_YEAR).describe('Interval in hours: 1 is hourly, 0 means never.'),
  syncOrder: z.int().min(0).max(1_000),
});

export const SyncSettingsBodySchema = z.object({ settings: z.array(SyncSettingSchema).max(100) });

export const SyncSettingsSchema = SyncSettingsBodySchema.extend({
  companyId: z.uuid(),
  overridesDefaults: z.boolean(),
}).meta({ id: 'SyncSettings' });
