/** Output of the commands of `ferry --portal`. */
import { z } from 'zod';
import { CompanySchema, MigrationAnswerSchema } from '../../portal/contract/migration-view';
import { PORTAL_ROLES, SessionSchema } from '../../portal/contract/session';
import * as part from './parts';
import type { CommandSchemas } from './parts';

const { nullableText } = part;

const { migrationId, state, headline, task, counts } = MigrationAnswerSchema.shape.view.shape;
const fingerprint = nullableText.describe(
  "fingerprint of the person's key, which support compares before it confirms the key; null for a viewer",
);

export const PORTAL_SCHEMAS: CommandSchemas = {
  'ferry.portal-sign-in/1': [
    'ferry --portal sign-in',
    {
      sessions: z.array(
        z.strictObject({ ...SessionSchema.omit({ publicKey: true }).shape, keyFingerprint: fingerprint }),
      ),
      provider: nullableText.describe(
        "the provider's fingerprint in the link of the invitation; null if no link was used, or if it has none",
      ),
    },
  ],
  'ferry.portal-sign-out/1': ['ferry --portal sign-out', { migrationId }],
  'ferry.portal-sign-ins/1': [
    'ferry --portal list',
    {
      signIns: z.array(
        z.strictObject({
          ...{ portal: z.string(), migrationId, person: z.string(), role: z.enum(PORTAL_ROLES) },
          keyFingerprint: z.string(),
          isKeyConfirmed: z.boolean().nullable(),
          headline: headline.nullable(),
          problem: nullableText.describe(
            'why the migration could not be read; `isKeyConfirmed` and `headline` are then null',
          ),
        }),
      ),
      advice: z.string().optional().describe('how to sign in; only if `signIns` is empty'),
    },
  ],
  'ferry.portal-show/1': [
    'ferry --portal show',
    {
      ...MigrationAnswerSchema.shape,
      ...{ person: z.string(), role: z.enum(PORTAL_ROLES), isKeyConfirmed: z.boolean() },
    },
  ],
  'ferry.portal-credentials/1': [
    'ferry --portal credentials, replace-credential',
    {
      migrationId,
      outcome: z.enum(['applied', 'refused']),
      text: z.string(),
      supplied: part.count,
      refusedCredentials: z.array(z.strictObject({ reference: z.string(), why: z.string() })),
      shredded: z.boolean(),
      ...part.findingFields,
    },
  ],
  'ferry.portal-manifest/1': [
    'ferry --portal manifest',
    {
      migrationId,
      outcome: z.enum(['applied', 'refused']),
      text: z.string(),
      companies: part.count,
      ...part.findingFields,
    },
  ],
  'ferry.portal-watch/1': ['ferry --portal watch', { migrationId, state, headline, task, counts }],
  'ferry.portal-companies/1': ['ferry --portal companies', { migrationId, companies: z.array(CompanySchema) }],
  'ferry.portal-exceptions/1': ['ferry --portal exceptions', { migrationId, exceptions: z.array(CompanySchema) }],
};
