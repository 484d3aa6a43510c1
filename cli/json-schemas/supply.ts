/** Output of the commands that prepare, check and supply a client's files, and that start a migration. */
import { z } from 'zod';
import * as company from './company-parts';
import * as decided from './decision-parts';
import * as part from './parts';
import type { CommandSchemas } from './parts';

const { count, nullableText, nullableTime, texts, time } = part;

const checked = {
  files: z.strictObject({ manifest: z.string(), credentials: z.string().optional(), encoding: z.string().optional() }),
  platform: z.string(),
  companies: count,
  credentials: count,
  manifestDigest: nullableText.describe('null if any error was found'),
  asked: z.array(z.enum(['account', 'other migrations'])),
  notChecked: z
    .array(z.enum(['account', 'other migrations', 'dependents', 'credentials']))
    .describe(
      "what was not checked; dependents: whether another client's companies depend on the registered application; credentials: whether the separate credentials match the companies",
    ),
  estimate: part.estimate.nullable(),
  errors: count,
  warnings: count,
  ...part.findingFields,
};

/** All fields are optional, because a dry run or a failed start prints only some of them. */
const started = z
  .object({ ...checked, credentialsStored: count, preflight: part.preflight.nullable() })
  .partial().shape;

const startedFields = {
  started: z.boolean(),
  dryRun: z.literal(true).optional(),
  migrationId: z.string().optional(),
  ...started,
  clientPage: part.clientPage.optional(),
  retrying: texts.optional().describe('why the check of the supplied details has not finished'),
};

const { outcome, decisionId, text, signedBy } = decided.sentDecision;
const decision = z.strictObject({ outcome, decisionId, text, signedBy });

export const SUPPLY_SCHEMAS: CommandSchemas = {
  'ferry.export-template/1': [
    'ferry export-template',
    {
      platform: z.string(),
      route: part.route,
      files: z.array(
        z.strictObject({
          file: z.string(),
          columns: z.array(z.strictObject({ name: z.string(), required: z.boolean(), description: z.string() })),
        }),
      ),
    },
  ],
  'ferry.check/1': ['ferry check', { ok: z.boolean(), ...checked }],
  'ferry.start/1': ['ferry start', { ...startedFields, shredded: z.boolean().optional() }],
  'ferry.self-service/1': [
    'ferry self-service',
    {
      ...startedFields,
      credentialsDecision: decision
        .nullable()
        .optional()
        .describe(
          'the decision that supplied the credentials; null if none was sent. The credentials are used once the outcome of this decision is `applied`. If only some of them are used, the text of the decision says how many',
        ),
      state: nullableText.optional().describe('null if the command did not watch the migration'),
      waitingFor: part.waitingFor.nullable().optional(),
      counts: company.counts.nullable().optional(),
      next: part.next.optional(),
    },
  ],
  'ferry.credentials/1': [
    'ferry credentials, ferry replace-credential',
    {
      migrationId: z.string().optional(),
      stored: texts.describe(
        'references of the stored credentials. If only some of them are used, the text of `decision` says how many',
      ),
      unknown: texts.optional(),
      wrongState: texts.optional(),
      obtainedTooEarly: texts.optional(),
      tooEarly: z
        .array(z.strictObject({ reference: z.string(), obtainedAt: time, confirmedAt: nullableTime }))
        .optional()
        .describe(
          'the companies in `obtainedTooEarly`, with the times that were compared; `confirmedAt` is null if the company was not confirmed',
        ),
      shredded: z.boolean().optional(),
      missing: z
        .strictObject({
          companies: count,
          references: texts.describe('references of the first five companies without a credential'),
        })
        .optional()
        .describe(
          'waiting companies that are not held back and still have no credential; only from ferry credentials, and only if the decision was applied',
        ),
      decision: z
        .strictObject({
          schema: z.literal('ferry.decision/1'),
          ...decided.sentDecision,
          companies: count
            .optional()
            .describe(
              'the companies that the decision changes, as far as is known; only from ferry replace-credential',
            ),
        })
        .optional()
        .describe('absent if no credential could be stored'),
      ...part.findingFields,
    },
  ],
  'ferry.seal/1': [
    'ferry seal',
    {
      migrationId: z.string(),
      file: nullableText.describe('the sealed file; null if the findings include an error'),
      companies: count.optional().describe('absent for the client secret of an application'),
      shredded: z.boolean().optional(),
      ...part.findingFields,
    },
  ],
  'ferry.migration-key/1': [
    'ferry migration-key',
    {
      migrationId: z.string(),
      key: z.string().describe('not secret'),
      fingerprint: z.string(),
      signedBy: z
        .string()
        .describe('fingerprint of the key that signed this key; compare it with the fingerprint that you publish'),
    },
  ],
  'ferry.manifest/1': [
    'ferry manifest',
    {
      migrationId: z.string().optional(),
      companies: count.optional(),
      decision: decision.optional().describe('absent if the findings include an error'),
      preflight: part.preflight
        .nullable()
        .optional()
        .describe('null if the manifest was refused, or has not been checked yet'),
      ...part.findingFields,
    },
  ],
  'ferry.amend/1': [
    'ferry amend',
    {
      migrationId: z.string().optional(),
      added: texts,
      corrected: texts,
      unchanged: count.optional(),
      tooLate: texts.optional(),
      heldBack: z
        .array(
          z.strictObject({
            reference: z.string(),
            heldBack: z
              .string()
              .describe(
                'the problem, or `not checked yet`. With `--as support`, which is the default, it can name other clients',
              ),
          }),
        )
        .optional(),
      decision: decision.nullable().optional(),
      ...part.findingFields,
    },
  ],
};
