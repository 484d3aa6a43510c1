/**
 * The portal's API: the shapes of its requests and answers. The server, the page, the workers that write the view, and
 * `ferry --portal` share them. Times are ISO 8601 in UTC; durations are in milliseconds.
 */
import { z } from 'zod';

const moment = z.iso.datetime();
const reference = z.string().min(1).max(100);
const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));

/** `client` may decide and supply; `viewer` may only read. */
export const PORTAL_ROLES = ['client', 'viewer'] as const;

/** A person's session. */
export const SessionSchema = z.object({
  migrationId: z.string(),
  person: z.string(),
  role: z.enum(PORTAL_ROLES),
  /** The person's public key (Ed25519) that was registered with the invitation; null for a viewer. */
  publicKey: hex(64).nullable(),
  /** True once support has confirmed the key's fingerprint. */
  isKeyConfirmed: z.boolean(),
  expiresAt: moment,
});
export type PortalSession = z.infer<typeof SessionSchema>;

/** Redeems an invitation. */
export const RedeemSchema = z.strictObject({
  invitation: z.string().min(20).max(200),
  /** Absent for viewers. */
  publicKey: hex(64).optional(),
  /** `cookie` for browsers; `token` returns a bearer token, for `ferry --portal`. */
  as: z.enum(['cookie', 'token']),
});

/**
 * Signs in again with the key that was registered with an invitation, after support has confirmed it. A worker checks the
 * signature and creates the session, so the answer can take some seconds. The same request can be repeated until
 * `SIGN_IN_VALID_MS` after it was signed, and creates only one session.
 */
export const SignInAgainSchema = z.strictObject({
  migrationId: z.string().min(1).max(200),
  publicKey: hex(64),
  /** The token of the new session, which the caller creates: 32 random bytes in base64url. */
  token: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  signedAt: moment,
  /** Ed25519 signature of `signInText` (domain/migration/sign-in.ts), 128 hexadecimal digits. */
  signature: hex(128),
  /** `cookie` for browsers, `token` for programs. */
  as: z.enum(['cookie', 'token']),
});
export type SignInAgain = z.infer<typeof SignInAgainSchema>;

/** Starts a sign-in at the identity provider, for a migration to which the person was invited by account. */
export const StartIdentitySignInSchema = z.strictObject({
  migrationId: z.string().min(1).max(200),
  /** The browser's key. A client's first sign-in registers it. */
  publicKey: hex(64),
});

/** The address of the identity provider at which the person signs in. */
export const IdentitySignInStartedSchema = z.object({ address: z.url() });

/** Completes a sign-in. `query`: the query string with which the identity provider sent the browser to the portal. */
export const FinishIdentitySignInSchema = z.strictObject({ query: z.string().min(1).max(6_000) });

const StepView = z.object({
  step: z.string(),
  number: z.number().int(),
  title: z.string(),
  /** Who acts in the step, in words. */
  who: z.string(),
  state: z.enum(['done', 'open', 'later']),
  openedAt: moment.nullable(),
  endedAt: moment.nullable(),
  approvals: z.array(z.object({ by: z.string(), role: z.string(), at: moment })),
});

/** A decision that the client can make now, and what the page says before it is confirmed. */
const ActionView = z.object({
  /** The decision message, for example `approve` or `confirmSyncDisabled`. */
  message: z.string(),
  /** Absent if the decision does not belong to a step. */
  step: z.string().optional(),
  /** The digest of what the person reviews; the decision must carry it. */
  digest: z.string().optional(),
  /** The button's text, for example `Approve the start`. */
  title: z.string(),
  /** The subject of the decision, one fact per line. */
  facts: z.array(z.string()),
  /**
   * Unsolved problems that the decision accepts, one sentence each; absent if there are none. For the handover: the
   * companies whose application was replaced after their move, by reference. `GET /api/companies` lists the companies
   * that were not moved.
   */
  warnings: z.array(z.string()).optional(),
  /** The consequence; shown before the person confirms the decision. */
  consequence: z.string(),
  isIrreversible: z.boolean(),
  /** Somebody else's decision that this one undoes, worded as a clause of a sentence; absent if it undoes none. */
  overrides: z.string().optional(),
  /** True if the migration is waiting for this decision. False for decisions that are merely possible. */
  isExpected: z.boolean(),
  reason: z.enum(['none', 'optional', 'required']),
});

/**
 * The view of a migration, which the page shows. Written by a worker. Every text is plain text, not markup. Times inside
 * a text have the form `2026-11-20 23:55 UTC`; the page shows them in the reader's zone.
 */
export const MigrationViewSchema = z.object({
  migrationId: z.string(),
  client: z.string(),
  platform: z.object({ key: z.string(), name: z.string() }),
  contact: z.string(),
  route: z.enum(['managed', 'self-service']),
  state: z.string(),
  /** One sentence: what is happening, and what the client has to do. */
  headline: z.string(),
  /** The task of the client now, or else an action that it can take meanwhile; null if there is none. */
  task: z.object({ what: z.string(), why: z.string(), since: moment.nullable(), by: moment.nullable() }).nullable(),
  /** The next event after that; null once the migration has ended. */
  next: z.string().nullable(),
  /** Who ended or paused the migration or reopened a step, and why; when moves begin; the deadline; a running check. */
  notices: z.array(z.string()),
  steps: z.array(StepView),
  start: z.object({ at: moment, by: z.string(), role: z.string(), isAgreed: z.boolean() }).nullable(),
  /** When the remaining companies will have been moved; null if nothing can be expected. */
  end: z.object({ earliest: moment, latest: moment, companies: z.number().int(), basis: z.string() }).nullable(),
  /** When moves can begin, in words; null if at any time, or if the migration has ended. */
  windows: z.string().nullable(),
  outOfDate: z.string(),
  switchBackOn: z.string(),
  /**
   * Numbers of companies: in total, in each state that people read, without a confirmation, of the confirmed ones
   * without a usable credential, and of those that will be tried again. The last one is absent in an older view.
   */
  counts: z.object({
    total: z.number().int(),
    moved: z.number().int(),
    moving: z.number().int(),
    notMovedYet: z.number().int(),
    mustReconnect: z.number().int(),
    notMoved: z.number().int(),
    leftOut: z.number().int(),
    unconfirmed: z.number().int(),
    withoutCredential: z.number().int(),
    retried: z.number().int().optional(),
  }),
  /**
   * The waves that still have companies without a confirmation; empty if the manifest has no waves, or if the migration
   * has ended.
   */
  waves: z.array(z.object({ wave: z.number().int().nullable(), unconfirmed: z.number().int() })),
  firstCompany: z
    .object({
      reference: z.string(),
      stage: z.string(),
      evidence: z.array(z.object({ label: z.string(), result: z.string(), ok: z.boolean() })),
    })
    .nullable(),
  /** Problems and warnings that the check of the details found. */
  details: z.object({ isChecking: z.boolean(), problems: z.array(z.string()), warnings: z.array(z.string()) }),
  application: z
    .object({ clientId: z.string(), environment: z.string(), suppliedBy: z.string().nullable() })
    .nullable(),
  /** The callback URL that the client adds to its application; null if the service has not returned it yet. */
  callbackUrl: z.string().nullable(),
  /** The fields of a credential on this platform, in the order of the columns of a credential file. */
  credentialFields: z.array(z.object({ name: z.string(), isRequired: z.boolean() })),
  /** True if the platform replaces refresh tokens, so only credentials obtained after the confirmation count. */
  isRotating: z.boolean(),
  /** The signed migration key (`tokenferry-key-1...`); null if the vault is not open. */
  migrationKey: z.string().nullable(),
  actions: z.array(ActionView),
});
export type MigrationView = z.infer<typeof MigrationViewSchema>;

/** The answer of `GET /api/migration`, and the data of each server-sent event `migration`. */
export const MigrationAnswerSchema = z.object({
  view: MigrationViewSchema,
  writtenAt: moment,
  /** False if no worker has written the view for a while; the page says that it may be old. */
  isCurrent: z.boolean(),
});

/** A company, as the client sees it. */
export const CompanySchema = z.object({
  /** The row in the manifest; to read the next page, pass the last row as `after`. */
  row: z.number().int(),
  reference: z.string(),
  name: z.string(),
  wave: z.number().int().nullable(),
  state: z.enum(['moved', 'moving', 'not-moved-yet', 'must-reconnect', 'not-moved', 'left-out']),
  confirmedAt: moment.nullable(),
  hasCredential: z.boolean(),
  movedAt: moment.nullable(),
  /** Why it was not moved or is delayed, in words; null if nothing is wrong. */
  problem: z.string().nullable(),
  /** The ways to resolve it, the most promising first: see `Remedy` in domain/companies/remedies.ts. */
  remedies: z.array(z.string()),
  /** The page on which the company's end customer reconnects; null if there is none or it is not needed. */
  linkUrl: z.string().nullable(),
});
export const CompaniesSchema = z.object({ companies: z.array(CompanySchema), hasMore: z.boolean() });
export const CompanyFilterSchema = z.strictObject({
  state: CompanySchema.shape.state.optional(),
  /** Only companies on which a person must act. */
  exceptions: z.stringbool().optional(),
  /** Part of a reference or a name, in upper or lower case. */
  search: z.string().max(100).optional(),
  after: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});

const SignatureSchema = z.strictObject({ publicKey: hex(64), value: hex(128) });

/**
 * A decision with its signature: the content is exactly what was signed (see `domain/migration/signatures.ts`), with
 * `decisionId`, `role`, `by` and `signedAt`.
 */
export const SignedDecisionSchema = z.looseObject({
  decisionId: z.uuid(),
  role: z.literal('client'),
  by: z.string().min(1).max(200),
  signedAt: moment,
  signature: SignatureSchema,
});

export const DecideSchema = z.strictObject({ message: z.string().min(1).max(50), decision: SignedDecisionSchema });

/** Content sealed as by `ferry seal` (version 3), base64. */
const box = z.base64().min(1).max(20_000);

/** The largest number of credentials in one request. */
export const MAX_SEALED_PER_REQUEST = 1_000;

/**
 * A part of the sealed credentials that one decision supplies. Send all parts with the same `decisionId`, then the
 * decision `credentialsSupplied` or `replaceCredential` with that id. The decision contains `sealedDigest`, the digest of
 * the credentials that were stored (see `domain/supply/sealed-digest.ts`), so that no other credentials count.
 */
export const SealedCredentialsSchema = z.strictObject({
  decisionId: z.uuid(),
  /** True for `replaceCredential`. */
  replaces: z.boolean(),
  /** The fingerprint of the migration key that sealed them. If it has been replaced, the worker refuses the request. */
  keyFingerprint: z.string().max(100),
  credentials: z
    .array(z.strictObject({ reference, obtainedAt: z.iso.datetime({ precision: 3 }), sealed: box }))
    .min(1)
    .max(MAX_SEALED_PER_REQUEST),
});

/**
 * The client's application with its sealed client secret, and the decision `applicationSupplied` about it, which contains
 * the `sealedDigest` of both.
 */
export const SealedApplicationSchema = z.strictObject({
  keyFingerprint: z.string().max(100),
  clientId: z.string().min(1).max(250),
  environment: z.enum(['production', 'sandbox']),
  sealed: box,
  decision: SignedDecisionSchema,
});

/** The largest number of rows in one part of a manifest, and the largest number of parts. */
const MAX_ROWS_PER_PART = 1_000;
const MAX_MANIFEST_PARTS = 100;

const text = (max: number) => z.string().min(1).max(max);
const upTo = (max: number, min = 0) => z.number().int().min(min).max(max);

/**
 * A part of the manifest that one decision supplies. Send all parts with the same `decisionId`, then the decision
 * `manifestSupplied` with that id, the number of companies, and the digest of all rows as `manifestDigest` (see
 * `domain/supply/supplied-rows.ts`).
 */
export const ManifestPartSchema = z.strictObject({
  decisionId: z.uuid(),
  /** Position of the part, from 0. */
  part: upTo(MAX_MANIFEST_PARTS - 1),
  rows: z
    .array(
      z.strictObject({
        /** Position in the manifest, from 1. */
        row: upTo(MAX_MANIFEST_PARTS * MAX_ROWS_PER_PART, 1),
        reference,
        name: text(250),
        organization: text(250),
        expectedInvoices: upTo(999_999_999).nullable(),
        wave: upTo(999_999_999, 1).nullable(),
        family: text(250).nullable(),
      }),
    )
    .min(1)
    .max(MAX_ROWS_PER_PART),
});

export const REPORT_FORMATS = ['html', 'csv', 'json', 'markdown'] as const;
export const ReportRequestSchema = z.strictObject({ format: z.enum(REPORT_FORMATS) });

/** The kinds of portal requests, and the bodies that a worker gets. */
export const PORTAL_REQUESTS = {
  decide: DecideSchema,
  credentials: SealedCredentialsSchema,
  application: SealedApplicationSchema,
  manifest: ManifestPartSchema,
  report: ReportRequestSchema,
} as const;
export type PortalRequestKind = keyof typeof PORTAL_REQUESTS;

/**
 * The answer to a portal request.
 *
 * - `applied` or `refused`: the ledger's outcome of a decision
 * - `stored`: the credentials, or a part of the manifest, are staged; `refusedCredentials` lists the other credentials
 * - `done`: the report is in `content`
 * - `failed`: nothing was done, or it is not known whether it was; `text` says which, and why
 */
export const RequestAnswerSchema = z.object({
  outcome: z.enum(['applied', 'refused', 'stored', 'done', 'failed']),
  text: z.string(),
  stored: z.number().int().optional(),
  refusedCredentials: z.array(z.object({ reference: z.string(), why: z.string() })).optional(),
  content: z.string().optional(),
});
export type RequestAnswer = z.infer<typeof RequestAnswerSchema>;

/** `answer` is null until a worker has carried out the request; ask again with its id. */
export const RequestStatusSchema = z.object({ id: z.uuid(), answer: RequestAnswerSchema.nullable() });

export const ErrorSchema = z.object({ error: z.string(), advice: z.string().optional() });
