import { z } from 'zod';
import { DATA_TYPES } from '../../platform/data-types';

const HOURS_OF_A_YEAR = 8_760;

const SyncSettingSchema = z.object({
  dataType: z.enum(DATA_TYPES),
  fetchOnFirstLink: z.boolean().describe('not after an authorization with migrated credentials'),
  syncSchedule: z.int().min(0).max(HOURS_OF_A_YEAR).describe('in hours: 1 is hourly, 0 never'),
  syncOrder: z.int().min(0).max(1_000),
});

export const SyncSettingsBodySchema = z.object({ settings: z.array(SyncSettingSchema).max(100) });

export const SyncSettingsSchema = SyncSettingsBodySchema.extend({
  companyId: z.uuid(),
  overridesDefaults: z.boolean(),
}).meta({ id: 'SyncSettings' });
