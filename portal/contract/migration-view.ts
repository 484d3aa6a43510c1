/**
 * The portal's API: the view of a migration and its companies. Workers write the view, and the page and `ferry
 * --portal` show it. Times are ISO 8601 in UTC.
 */
import { z } from 'zod';
import { SUPPLY_MESSAGES } from '../../domain/companies/credential-state';

const moment = z.iso.datetime();

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
  /**
   * The first two people, in alphabetical order, whose confirmations ended step 4. Absent in other steps, and until
   * step 4 is done.
   */
  confirmedBy: z.array(z.string()).exactOptional(),
  /** The number of further people. Absent if there are none. */
  otherConfirmers: z.number().int().exactOptional(),
});

/**
 * A decision that the client can make now, and the texts that the page shows before the person confirms the decision.
 */
const ActionView = z.object({
  /** The decision message, for example `approve` or `confirmSyncDisabled`. */
  message: z.string(),
  /** Absent if the decision does not belong to a step. */
  step: z.string().optional(),
  /** The digest of the content that the person reviews. The decision must contain this digest. */
  digest: z.string().optional(),
  /** The button's text, for example `Approve the start`. */
  title: z.string(),
  /** The subject of the decision, one fact per line. */
  facts: z.array(z.string()),
  /**
   * Facts that the person should know before deciding, one sentence each; absent if there are none. For an approval:
   * who has reopened the step or rejected its result, and why. For the handover: the companies whose application was
   * replaced after they were connected. For `replaceCredential`: the sign-offs that it withdraws. `GET /api/companies`
   * lists the companies that were not moved.
   */
  warnings: z.array(z.string()).optional(),
  /** The consequence; shown before the person confirms the decision. */
  consequence: z.string(),
  isIrreversible: z.boolean(),
  /**
   * The effect on a decision of support, for example `This lifts the pause of Sam`; absent if this decision undoes no
   * decision of support.
   */
  overrides: z.string().optional(),
  /** True if the migration is waiting for this decision. False for decisions that are merely possible. */
  isExpected: z.boolean(),
  /** The people who cannot make this decision under the four-eyes rule; absent if the rule excludes none of them. */
  excludedPeople: z.array(z.string()).optional(),
  reason: z.enum(['none', 'optional', 'required']),
});

/**
 * The view of a migration, which the page shows. Written by a worker. Every text is plain text, not markup. Times
 * inside a text have the form `2026-11-20 23:55 UTC`; the page shows them in the reader's zone.
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
  task: z
    .object({
      what: z.string(),
      /** The problems to solve, one sentence each, if the task is to correct details; absent if there are none. */
      problems: z.array(z.string()).optional(),
      why: z.string(),
      since: moment.nullable(),
      /** The deadline; null if there is none. */
      by: moment.nullable(),
      /** The consequence if the client acts after the deadline, in sentences; absent if it is not known. */
      ifLate: z.string().optional(),
    })
    .nullable(),
  /** The event after the current step, in one sentence; null once the migration or its workflow has ended. */
  next: z.string().nullable(),
  /**
   * Sentences about these facts, as far as they apply: who ended or paused the migration or reopened a step, and why;
   * reconnections after the end; companies whose application was replaced; when moves begin; a start that is unusually
   * far away; the deadline, unless the task has it; companies that will be tried again; another check of the details
   * that is in progress.
   */
  notices: z.array(z.string()),
  steps: z.array(StepView),
  start: z.object({ at: moment, by: z.string(), role: z.string(), isAgreed: z.boolean() }).nullable(),
  /**
   * When the remaining companies will have been moved; null if the end cannot be estimated. `basis` also says when
   * moves continue if the window closes before the end.
   */
  end: z.object({ earliest: moment, latest: moment, companies: z.number().int(), basis: z.string() }).nullable(),
  /**
   * When moves can begin, in words; null if moves can begin at any time, or if the migration or its workflow has ended.
   */
  windows: z.string().nullable(),
  outOfDate: z.string(),
  switchBackOn: z.string(),
  /**
   * Numbers of companies: all of them, those in each state (by the client's word for it), those without a confirmation,
   * confirmed ones without a usable credential, and those that will be tried again without being deferred (absent in an
   * older view).
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
  /** True if `GET /api/reconnect-links.csv` has a link. Absent in an older view. */
  hasReconnectLinks: z.boolean().optional(),
  /**
   * The waves that still have companies without a confirmation. `wave` is null for companies without a wave. Empty if
   * there are none, or if the migration or its workflow has ended.
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
  /**
   * True in the managed route if the platform rotates refresh tokens. Only credentials obtained after the confirmation
   * then count.
   */
  isRotating: z.boolean(),
  /**
   * The signed migration key (`tokenferry-key-1...`); null if the vault is not open, if the provider has not signed the
   * key, or once the migration or its workflow has ended.
   */
  migrationKey: z.string().nullable(),
  actions: z.array(ActionView),
});
export type MigrationView = z.infer<typeof MigrationViewSchema>;

/** The answer of `GET /api/migration`, and the data of each server-sent event `migration`. */
export const MigrationAnswerSchema = z.object({
  view: MigrationViewSchema,
  writtenAt: moment,
  /**
   * False if no worker has written the view for a while. As long as decisions are possible, the page then shows the age
   * of the view and says that decisions wait.
   */
  isCurrent: z.boolean(),
});

/** A company, as the client sees it. */
export const CompanySchema = z.object({
  /** The row in the manifest; to read the next page, pass the last row as `after`. */
  row: z.number().int(),
  reference: z.string(),
  name: z.string(),
  /** The platform's id of the organization, in the manifest; absent from an older portal. */
  organization: z.string().optional(),
  wave: z.number().int().nullable(),
  state: z.enum(['moved', 'moving', 'not-moved-yet', 'must-reconnect', 'not-moved', 'left-out']),
  confirmedAt: moment.nullable(),
  hasCredential: z.boolean(),
  movedAt: moment.nullable(),
  /** Why it was not moved, is delayed or depends on a replaced application, in words; null if nothing is wrong. */
  problem: z.string().nullable(),
  /**
   * The remedies that the migration accepts now, from the client or from support, the most promising first: see
   * `Remedy` in domain/companies/remedies.ts.
   */
  remedies: z.array(z.string()),
  /**
   * The decision messages with which a new credential for the company can be supplied now; empty if it accepts none.
   * Absent from an older portal.
   */
  accepts: z.array(z.enum(SUPPLY_MESSAGES)).optional(),
  /** The page on which the company's end customer reconnects; null if there is none or it is not needed. */
  linkUrl: z.string().nullable(),
});
export const CompaniesSchema = z.object({ companies: z.array(CompanySchema), hasMore: z.boolean() });
export const CompanyFilterSchema = z.strictObject({
  state: CompanySchema.shape.state.optional(),
  /**
   * Only companies that need attention: failed, with an unknown outcome, held back, deferred, dependent on a replaced
   * application or, once all companies are released, confirmed but without a usable credential.
   */
  exceptions: z.stringbool().optional(),
  /** Part of a reference or a name. Upper and lower case count as the same, and accents are ignored. */
  search: z.string().max(100).optional(),
  after: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});
