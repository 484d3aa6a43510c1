/** The portal's API: the requests that workers carry out for a person, and the answers to them. */
import { z } from 'zod';
import { hex } from './session';

const moment = z.iso.datetime();
const reference = z.string().min(1).max(100);

const SignatureSchema = z.strictObject({ publicKey: hex(64), value: hex(128) });

/**
 * A decision with its signature. All fields except `signature` are the content that was signed (see
 * `domain/migration/signatures.ts`).
 */
export const SignedDecisionSchema = z.looseObject({
  decisionId: z.uuid(),
  role: z.literal('client'),
  by: z.string().min(1).max(200),
  signedAt: moment,
  signature: SignatureSchema,
});

export const DecideSchema = z.strictObject({ message: z.string().min(1).max(50), decision: SignedDecisionSchema });

/**
 * A box in the format of `ferry seal` (version 3), in base64. The limit leaves room for a credential with the longest
 * fields that a file can contain (`domain/supply/row-parser.ts`).
 */
const box = z.base64().min(1).max(100_000);

/** The largest number of credentials in one request. */
export const MAX_SEALED_PER_REQUEST = 1_000;

/**
 * A part of the sealed credentials that one decision supplies. Send all parts with the same `decisionId`, then the
 * decision `credentialsSupplied` or `replaceCredential` with that id. The decision contains `sealedDigest`, the digest
 * of the credentials that were stored (see `domain/supply/sealed-digest.ts`), so that no other credentials count.
 */
export const SealedCredentialsSchema = z.strictObject({
  decisionId: z.uuid(),
  /** True for `replaceCredential`. */
  replaces: z.boolean(),
  /**
   * The fingerprint of the migration key with which the credentials were sealed. If that key has been replaced, the
   * worker refuses the request.
   */
  keyFingerprint: z.string().max(100),
  credentials: z
    .array(z.strictObject({ reference, obtainedAt: z.iso.datetime({ precision: 3 }), sealed: box }))
    .min(1)
    .max(MAX_SEALED_PER_REQUEST),
});

/**
 * The client's application with its sealed client secret, and the decision `applicationSupplied` about both. The
 * decision contains `sealedDigest`, the digest of the application and the sealed secret.
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
 * - `stored`: the credentials, or a part of the manifest, are staged; `refusedCredentials` lists the credentials that
 *   were not accepted
 * - `done`: the report is in `content`
 * - `failed`: the request was not carried out, or its outcome is unknown; `text` says which of the two, and why
 */
export const RequestAnswerSchema = z.object({
  outcome: z.enum(['applied', 'refused', 'stored', 'done', 'failed']),
  text: z.string(),
  /** The number of credentials or rows that were stored. */
  stored: z.number().int().optional(),
  refusedCredentials: z.array(z.object({ reference: z.string(), why: z.string() })).optional(),
  content: z.string().optional(),
});
export type RequestAnswer = z.infer<typeof RequestAnswerSchema>;

/** The status of a request. `answer` is null until a worker has answered the request; ask again with the `id`. */
export const RequestStatusSchema = z.object({ id: z.uuid(), answer: RequestAnswerSchema.nullable() });

export const ErrorSchema = z.object({ error: z.string(), advice: z.string().optional() });
