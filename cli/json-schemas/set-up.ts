/** Output of the commands for set-up, operation, keys and invitations, and of any command that stops with an error. */
import { z } from 'zod';
import * as part from './parts';
import type { CommandSchemas } from './parts';

const { count, nullableText, nullableTime, texts, time } = part;

const INVITATION = {
  id: z.uuid(),
  migrationId: z.string(),
  person: z.string(),
  role: z.enum(['client', 'viewer']),
  email: nullableText,
  signIn: z.enum(['link', 'openid']),
  issuer: nullableText.describe(
    'the identity provider at which the person signs in; null if the person signs in with the link',
  ),
  subject: nullableText.describe(
    "the id of the person's account at the identity provider; null if the id is unknown, or the person signs in with the link",
  ),
  createdBy: z.string(),
  expiresAt: time.describe('when an unused invitation expires'),
};

export const SET_UP_SCHEMAS: CommandSchemas = {
  'ferry.error/1': [
    'any command that stops with an error',
    { error: z.strictObject({ message: z.string(), advice: z.string().optional().describe('what to do next') }) },
  ],
  'ferry.up/1': [
    'ferry up',
    {
      home: z.string(),
      temporalUiUrl: nullableText,
      clientUiUrl: z.string().describe('the read-only Temporal UI for clients'),
      portalUrl: nullableText.describe('the portal for clients'),
      temporalAddress: z.string(),
      codecUrl: nullableText,
      serviceUrl: z.string(),
      serviceDocsUrl: z.string(),
      workers: count.describe('worker processes'),
    },
  ],
  'ferry.setup/1': [
    'ferry setup',
    {
      namespace: z.string(),
      namespaceCreated: z.boolean(),
      retentionMs: count.nullable().describe('how long Temporal keeps ended migrations'),
      searchAttributesCreated: texts,
      sweepCreated: z.boolean().describe('true if the Schedule of the sweep was created'),
      ledger: z.enum(['ready', 'not-configured']),
      ledgerCreated: z.boolean(),
      portalRole: nullableText.describe(
        "the portal's database role; null if DATABASE_URL or PORTAL_DATABASE_URL is not set",
      ),
    },
  ],
  'ferry.doctor/1': [
    'ferry doctor',
    {
      ok: z.boolean(),
      checks: z.array(
        z.strictObject({
          check: z.string(),
          verdict: z.enum(['ok', 'problem', 'not-checked']),
          finding: z.string(),
          advice: z.string().optional(),
        }),
      ),
    },
  ],
  'ferry.service/1': [
    'ferry service start',
    {
      url: z.string(),
      administratorKey: z.string().optional().describe('only if the embedded database is new; not printed again'),
      clientKey: z.string().optional().describe('as `administratorKey`'),
    },
  ],
  'ferry.service-key/1': ['ferry service keys create, rotate', { id: z.string(), key: z.string() }],
  'ferry.service-keys/1': [
    'ferry service keys list',
    {
      keys: z.array(
        z.strictObject({
          id: z.string(),
          account: z.string(),
          plan: z.enum(['paid', 'free', 'trial']),
          role: z.enum(['client', 'administrator']),
          state: z.enum(['active', 'outdated']),
          createdAt: time,
        }),
      ),
    },
  ],
  'ferry.service-key-revoked/1': ['ferry service keys revoke', { id: z.string() }],
  'ferry.signing-key/1': [
    'ferry keys create, show',
    { by: z.string(), publicKey: z.string().describe('64 hexadecimal digits'), file: z.string() },
  ],
  'ferry.vault-rotation/1': [
    'ferry vault rotate',
    {
      keyId: z.string(),
      rewrapped: count,
      unchanged: count,
      lost: texts.describe('migrations whose vault secrets are missing, so that their keys were not re-encrypted'),
    },
  ],
  'ferry.provider-fingerprint/1': [
    'ferry vault fingerprint',
    { fingerprint: z.string().describe('eight groups of four hexadecimal digits') },
  ],
  'ferry.vault-renewal/1': [
    'ferry vault renew',
    {
      migration: z.string(),
      deleted: count.describe('credentials that were deleted, including those whose decision was not applied yet'),
      deletedReplacements: count.describe(
        'of `deleted`: those that were going to replace another credential once their decision was applied',
      ),
      kept: count.describe('credentials that were kept as a record, although they can no longer be opened'),
      keptWaiting: count.describe(
        'of `kept`: those that were not sent yet and whose companies are waiting to be moved, so they must be supplied again',
      ),
      deletedSecrets: count.describe('client secrets that were deleted before they were registered at the service'),
    },
  ],
  'ferry.codec-server/1': ['ferry codec-server', { url: z.string() }],
  'ferry.invitation/1': [
    'ferry invite',
    {
      ...INVITATION,
      link: z
        .string()
        .describe(
          "the portal's address; if the person signs in with this link, the address contains a token that is printed only once and not stored",
        ),
    },
  ],
  'ferry.invitations/1': [
    'ferry invite --list',
    {
      invitations: z.array(
        z.strictObject({
          ...INVITATION,
          state: z.enum(['unused', 'expired', 'signed-in', 'signed-out', 'revoked']),
          createdAt: time,
          redeemedAt: nullableTime.describe('when the person signed in for the first time'),
          lastUsedAt: nullableTime.describe('when a session was last used, to the minute'),
          sessions: count.describe('sessions that can be used now'),
          keyFingerprint: nullableText.describe(
            "fingerprint of the key that the person's browser or `ferry --portal` created",
          ),
          keyConfirmedAt: nullableTime.describe('when support confirmed this fingerprint'),
          revokedAt: nullableTime,
          revokedBy: nullableText,
        }),
      ),
    },
  ],
  'ferry.invitation-revoked/1': [
    'ferry invite --revoke',
    { id: z.uuid(), migrationId: z.string(), person: z.string() },
  ],
  'ferry.portal/1': ['ferry portal', { url: z.string() }],
  'ferry.completion/1': ['ferry completion', { shell: z.enum(['bash', 'zsh', 'fish']), script: z.string() }],
};
