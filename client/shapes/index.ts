/**
 * What each command prints with `--json`. The number of a schema changes when a field is renamed, removed or given
 * another meaning; a field may be added without that. docs/json.md is written from here, and tests hold every output to it.
 */
import { z } from 'zod';
import * as part from './parts';

const { count, time } = part;

/** @param command what prints it */
interface Shape {
  readonly command: string;
  readonly schema: z.ZodObject;
}

const sent = {
  migrationId: z.string(),
  message: z.string().describe('the wire name of the decision'),
  became: z.enum(['applied', 'refused', 'recorded']).describe('recorded: kept until a worker runs'),
  decisionId: z.string(),
  text: z.string(),
  signedBy: z.string().nullable(),
};

const checked = {
  files: z.strictObject({ manifest: z.string(), credentials: z.string().optional() }),
  platform: z.string(),
  companies: count,
  credentials: count,
  manifestDigest: z.string().nullable().describe('null: it cannot be used'),
  asked: z.array(z.enum(['account', 'other migrations'])),
  estimate: part.estimate.nullable(),
  errors: count,
  warnings: count,
  ...part.findingFields,
};

/** Of what was not started, or only tried, the rest is missing. */
const started = z
  .object({ ...checked, credentialsStored: count, preflight: part.preflight.nullable() })
  .partial().shape;

const startedFields = {
  started: z.boolean(),
  dryRun: z.literal(true).optional(),
  migrationId: z.string().optional(),
  ...started,
  heldUp: z.array(z.string()).optional().describe('why it is not checked yet'),
};

const progress = {
  migrationId: z.string(),
  route: part.route,
  client: z.string(),
  platformKey: z.string(),
  contact: z.string(),
  state: z.enum(['running', 'waiting', 'paused', 'completed', 'abandoned', 'cancelled']),
  step: part.step,
  waitingFor: part.waitingFor,
  waitingSince: time.nullable(),
  steps: z.array(
    z.strictObject({
      step: part.step,
      state: z.enum(['done', 'open', 'later']),
      openedAt: time.nullable(),
      endedAt: time.nullable(),
      approvals: z.array(z.strictObject({ step: part.step, role: part.role, by: z.string(), at: time })),
    }),
  ),
  counts: part.counts,
  digests: z.record(part.step, z.string()).describe('of what there is to decide about in each step'),
  windows: z.array(part.window),
  preflight: part.preflight.nullable(),
  checking: z.boolean(),
  estimate: part.estimate.nullable(),
  proposal: part.proposal.nullable(),
  opening: part.opening.nullable(),
  firstCompany: part.firstCompany.nullable(),
  wantedFirst: z.strictObject({ reference: z.string(), heldUp: z.boolean() }).nullable(),
  standstill: part.standstill.nullable(),
  pause: part.pause.nullable(),
};

const figures = z.strictObject({
  crossed: count.describe('companies of which the service holds a grant'),
  crossingUnknown: count,
  mustReconnect: count,
  firstStartedAt: time.nullable(),
  lastMovedAt: time.nullable(),
  longestDarkHours: z.number().nullable(),
  medianDarkHours: z.number().nullable(),
  credentialsLeft: count,
});

const remedy = z.enum(['retry', 'relink', 'replace-credential', 'skip', 'amend', 'exclude']);

const SHAPES: Readonly<Record<`ferry.${string}/${number}`, readonly [command: string, fields: z.ZodRawShape]>> = {
  'ferry.error/1': [
    'any command that fails',
    { error: z.strictObject({ message: z.string(), advice: z.string().optional().describe('what to do next') }) },
  ],
  'ferry.up/1': [
    'ferry up',
    {
      home: z.string(),
      temporalUiUrl: z.string().nullable(),
      temporalAddress: z.string(),
      codecUrl: z.string().nullable(),
      serviceUrl: z.string(),
      serviceDocsUrl: z.string(),
    },
  ],
  'ferry.doctor/1': [
    'ferry doctor',
    {
      ok: z.boolean(),
      checks: z.array(
        z.strictObject({
          about: z.string(),
          verdict: z.enum(['ok', 'problem', 'not-checked']),
          what: z.string(),
          advice: z.string().optional(),
        }),
      ),
    },
  ],
  'ferry.service/1': [
    'ferry service start',
    {
      url: z.string(),
      administratorKey: z.string().optional().describe('of a new database of its own, this once'),
      clientKey: z.string().optional(),
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
      state: z.string().nullable().optional().describe('null: it was not watched'),
      waitingFor: part.waitingFor.nullable().optional(),
      counts: part.counts.nullable().optional(),
      next: part.next.optional(),
    },
  ],
  'ferry.list/1': [
    'ferry list',
    {
      migrations: z.array(
        z.strictObject({
          migrationId: z.string(),
          state: z.string(),
          step: z.string(),
          waitingFor: z.string(),
          total: count,
          done: count,
          failed: count,
          startedAt: time,
          missingKey: z.string().nullable().describe('the payload key without which it cannot be read here'),
        }),
      ),
    },
  ],
  'ferry.show/1': [
    'ferry show',
    {
      ...progress,
      heldUp: z.array(z.string()).describe('what keeps failing and is tried again'),
      interrupted: z.strictObject({ companies: count, onItsWayUntil: time.nullable() }),
      next: part.next,
    },
  ],
  'ferry.watch/1': [
    'ferry watch',
    { migrationId: z.string(), state: z.string(), step: part.step, waitingFor: part.waitingFor, counts: part.counts },
  ],
  'ferry.go-nogo/1': [
    'ferry go-nogo',
    {
      migrationId: z.string(),
      go: z.boolean(),
      opening: part.opening.nullable(),
      answers: z.array(z.strictObject({ about: z.string(), go: z.boolean(), why: z.string() })),
      wouldPause: z.array(z.string()),
      contact: z.string(),
    },
  ],
  'ferry.companies/1': [
    'ferry companies',
    {
      migrationId: z.string(),
      page: count.optional(),
      matching: count.optional().describe('with --page or --limit: how many there are in all'),
      companies: z.array(z.strictObject(part.companyFields).meta({ id: 'Company' })),
    },
  ],
  'ferry.exceptions/1': [
    'ferry exceptions',
    {
      migrationId: z.string(),
      exceptions: z.array(
        z
          .strictObject({
            ...part.companyFields,
            remedies: z.array(z.strictObject({ remedy, does: z.string(), command: z.string() })),
          })
          .meta({ id: 'Exception', description: 'a company that was not moved, and what can be done' }),
      ),
    },
  ],
  'ferry.report/1': [
    'ferry report',
    {
      migrationId: z.string(),
      route: part.route,
      client: z.string(),
      platformKey: z.string(),
      contact: z.string(),
      ending: z.enum(['completed', 'abandoned', 'cancelled']).nullable(),
      paused: z.boolean(),
      suppliedBy: z.string(),
      planned: z.strictObject({ startAt: time, estimate: part.estimate }).nullable(),
      suppliedAt: time,
      closedAt: time.nullable(),
      vaultDestroyedAt: time.nullable(),
      counts: part.counts,
      figures,
      decisions: z.array(z.strictObject({ decision: part.decision, outcome: part.outcome })),
      companies: z.array(
        z
          .strictObject({
            ...part.companyFields,
            switchOn: z.enum(['never', 'ask-first', 'not-yet', 'until-reconnected', 'yes']),
            remedies: z.array(remedy),
          })
          .meta({ id: 'ReportedCompany', description: 'a company, and whether it may be switched on again' }),
      ),
    },
  ],
  'ferry.audit/1': [
    'ferry audit',
    {
      migrationId: z.string(),
      trail: z.array(
        z
          .strictObject({
            at: time,
            applied: z.boolean(),
            became: z.string(),
            decision: part.decision,
            signed: z.looseObject({ message: z.string() }).optional().describe('the signed message as it came'),
          })
          .meta({ id: 'TrailEntry' }),
      ),
    },
  ],
  'ferry.audit-verification/1': [
    'ferry audit --verify',
    {
      migrationId: z.string(),
      entries: count,
      unproven: z.array(z.strictObject({ line: count, decisionId: z.string().nullable(), why: z.string() })),
      end: z
        .strictObject({
          migrationId: z.string(),
          entries: count,
          sha256: z.string(),
          exportedBy: z.string(),
          exportedAt: time,
        })
        .nullable()
        .describe('null: nobody has signed the file as a whole'),
    },
  ],
  'ferry.decision/1': [
    'every command that decides: ferry approve, reject, sign-off, propose-time, ...',
    {
      ...sent,
      companies: count.optional().describe('about how many companies it was sent'),
      preflight: part.preflight.nullable().optional().describe('of ferry application'),
    },
  ],
  'ferry.credentials/1': [
    'ferry credentials, ferry replace-credential',
    {
      migrationId: z.string().optional(),
      stored: z.array(z.string()),
      unknown: z.array(z.string()).optional(),
      elsewhere: z.array(z.string()).optional(),
      tooEarly: z.array(z.string()).optional(),
      shredded: z.boolean().optional(),
      decision: z
        .strictObject({ schema: z.literal('ferry.decision/1'), ...sent, companies: count.optional() })
        .optional()
        .describe('of ferry replace-credential'),
      ...part.findingFields,
    },
  ],
  'ferry.amend/1': [
    'ferry amend',
    {
      migrationId: z.string().optional(),
      added: z.array(z.string()),
      corrected: z.array(z.string()),
      unchanged: count.optional(),
      tooLate: z.array(z.string()).optional(),
      heldBack: z.array(z.strictObject({ reference: z.string(), heldBack: z.string() })).optional(),
      decision: z
        .strictObject({
          became: sent.became,
          decisionId: sent.decisionId,
          text: sent.text,
          signedBy: sent.signedBy,
        })
        .nullable()
        .optional(),
      ...part.findingFields,
    },
  ],
  'ferry.schedule/1': [
    'ferry schedule show',
    {
      schedules: z.array(
        z.strictObject({
          migrationId: z.string(),
          windows: z.array(part.window),
          openings: z.array(part.opening),
          state: z.enum(['running', 'paused', 'not-yet', 'none']),
          note: z.string().nullable(),
        }),
      ),
    },
  ],
  'ferry.schedule-change/1': [
    'ferry schedule pause, resume, trigger',
    { results: z.array(z.strictObject({ migrationId: z.string(), done: z.boolean(), text: z.string() })) },
  ],
  'ferry.sweep/1': [
    'ferry sweep',
    {
      schedulesDeleted: z.array(z.string()),
      closed: z.array(z.string()),
      closing: z.array(z.string()),
      open: z.array(z.string()),
    },
  ],
  'ferry.signing-key/1': [
    'ferry keys create, show',
    { by: z.string(), publicKey: z.string().describe('64 hexadecimal digits'), file: z.string() },
  ],
  'ferry.vault-rotation/1': ['ferry vault rotate', { keyId: z.string(), rewrapped: count, unchanged: count }],
  'ferry.codec-server/1': ['ferry codec-server', { url: z.string() }],
  'ferry.completion/1': ['ferry completion', { shell: z.enum(['bash', 'zsh', 'fish']), script: z.string() }],
};

/** Every shape by the name that it has in its field `schema`. */
export const SHAPE_OF: ReadonlyMap<string, Shape> = new Map(
  Object.entries(SHAPES).map(([name, [command, fields]]) => [
    name,
    { command, schema: z.strictObject({ schema: z.literal(name), ...fields }) },
  ]),
);
