/**
 * The mutants: for each invariant of the checker, an edit of the compiled product that breaks the invariant.
 *
 * Some invariants are guarded several times, in the workflow, in the ledger and before a call to the service. Their
 * mutants edit each guard, or a function that all guards use. Such a function is edited twice, because `dist/` contains
 * it as a module and in the workflow bundle (`inBoth`).
 */
import type { Invariant, WeeklyWindow } from '../checker';

/** A replacement in a file of `dist/`. The text must occur exactly once. */
export interface Edit {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

export interface Mutant {
  /** The invariant that it breaks; null for the unchanged build. */
  readonly invariant: Invariant | null;
  /** The defect, as the end of "a build that ...". */
  readonly defect: string;
  readonly edits: readonly Edit[];
  readonly scenario?: Partial<Scenario>;
}

/** How the migration of a mutant runs: see scenario.ts. A mutant lists only its differences from `USUAL` (index.ts). */
export interface Scenario {
  readonly windows: readonly WeeklyWindow[];
  /** The first answer to a request with this method and path is lost, after the first company has been moved. */
  readonly lostAnswer: { readonly method: string; readonly path: RegExp } | null;
  /** False: support never approves the first company. */
  readonly approvesFirst: boolean;
  /** The number of companies that are not moved, because the client has not confirmed them. */
  readonly waitingAtEnd: number;
  readonly cancels: boolean;
}

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const DAY_MS = 24 * 60 * 60_000;
/** A whole day, three days from now. */
const ANOTHER_DAY: readonly WeeklyWindow[] = [
  { days: [DAYS[new Date(Date.now() + 3 * DAY_MS).getUTCDay()] ?? 'sun'], from: '00:00', to: '00:00', timeZone: 'UTC' },
];

const BUNDLE = 'workflow-bundle.js';

/** Returns the same edit for a compiled file and for the bundle of workflow code, which contains the same code. */
const inBoth = (file: string, before: string, after: string): readonly Edit[] => [
  { file, before, after },
  { file: BUNDLE, before, after },
];

const NEW_IDEMPOTENCY_KEYS: Edit = {
  file: 'company-data-client/caller.js',
  before: 'await recordSendIntent?.();',
  after:
    "await recordSendIntent?.();\n            if (request.idempotencyKey) request = { ...request, idempotencyKey: require('node:crypto').randomUUID() };",
};

export const MUTANTS: readonly Mutant[] = [
  {
    invariant: 'outcome',
    defect: 'counts a company as moved although invoices are missing',
    edits: [
      {
        file: 'activities/companies/evidence.js',
        before: 'records.found >= records.expected',
        after: 'records.found >= 0',
      },
    ],
  },
  {
    invariant: 'lost',
    defect: 'deletes moved companies at the service when a migration ends',
    edits: [
      {
        file: 'store/migrations/closing.js',
        before: "and c.state in ('waiting', 'excluded') and c.company_id is not null",
        after: "and c.state in ('waiting', 'excluded', 'moved') and c.company_id is not null",
      },
      { file: 'activities/migration/closing.js', before: "if (status !== 'PendingAuth') return false;", after: '{}' },
    ],
    scenario: { cancels: true },
  },
  {
    invariant: 'unknown',
    defect: 'gives up when an answer is lost, instead of reading the connection',
    edits: [
      {
        file: 'activities/companies/import.js',
        before: "to: 'importing',\n                    text\n",
        after: "to: 'outcome-unknown',\n                    text\n",
      },
    ],
    scenario: { lostAnswer: { method: 'PUT', path: /\/authorization$/ } },
  },
  {
    invariant: 'one-company',
    defect: 'creates a company again, with another idempotency key, when the answer is lost',
    edits: [NEW_IDEMPOTENCY_KEYS],
    scenario: { lostAnswer: { method: 'POST', path: /\/companies$/ } },
  },
  {
    invariant: 'one-connection',
    defect: 'creates a connection again, with another idempotency key, when the answer is lost',
    edits: [NEW_IDEMPOTENCY_KEYS],
    scenario: { lostAnswer: { method: 'POST', path: /\/connections$/ } },
  },
  {
    invariant: 'one-use',
    // The token is that of the second company: only this token ends with 01.
    defect: 'sends a token a second time, in another authorization body',
    edits: [
      {
        file: 'company-data-client/create-client.js',
        before: 'const { value, ...details } = await caller.read(call, _schemas.connectionSchema, options);',
        after:
          'let { value, ...details } = await caller.read(call, _schemas.connectionSchema, options);\n            ' +
          'const again = { ...call, body: { ...body, accessToken: `${body.accessToken}-again` } };\n            ' +
          "if (body.refreshToken.endsWith('01')) ({ value, ...details } = await caller.read(again, _schemas.connectionSchema, options));",
      },
    ],
  },
  {
    invariant: 'confirmation',
    defect: 'treats the confirmation of some companies as a confirmation of all',
    edits: [
      {
        file: 'store/companies/companies.js',
        before: "const chosen = companies === 'all' ?",
        after: 'const chosen = true ?',
      },
    ],
    scenario: { waitingAtEnd: 0 },
  },
  {
    invariant: 'release',
    defect: 'moves all companies without the approval of the first company',
    edits: [
      {
        file: BUNDLE,
        before: 'const decided = await migration.awaitInStep(isDecided);',
        after:
          "if (migration.state().firstCompany?.stage === 'verified') return migration.endStep(STEP);\n    " +
          'const decided = await migration.awaitInStep(isDecided);',
      },
      {
        file: 'store/companies/claim.js',
        before: "(m.released = 'all' or (m.released = 'first-company' and c.row = m.first_row))",
        after: "m.released in ('all', 'first-company')",
      },
      {
        file: 'store/migrations/migrations.js',
        before: ".where('released', '=', 'all').returning('id')",
        after: ".returning('id')",
      },
    ],
    scenario: { approvesFirst: false },
  },
  {
    invariant: 'window',
    defect: 'ignores the days of the windows',
    edits: inBoth('domain/planning/windows.js', 'if (!days.includes(weekdayOf(date))) continue;', ''),
    scenario: { windows: ANOTHER_DAY },
  },
  {
    invariant: 'trail',
    defect: 'records changed limits under an id other than the one that was sent',
    edits: [
      {
        file: 'store/migrations/audit-trail.js',
        before: 'decision_id: decision.decisionId,',
        after: "decision_id: decision.kind === 'adjust' ? `${decision.decisionId}-2` : decision.decisionId,",
      },
    ],
  },
  {
    invariant: 'report',
    defect: 'reports companies that must reconnect as not moved',
    edits: [
      {
        file: 'domain/companies/company-state.js',
        before: "return failure === 'reauthorization-required' ? 'must-reconnect' : 'not-moved';",
        after: "return 'not-moved';",
      },
    ],
  },
];

/** The product without an edit. The checker must find no violation in its migration. */
export const UNCHANGED_BUILD: Mutant = { invariant: null, defect: 'has no defect', edits: [] };
