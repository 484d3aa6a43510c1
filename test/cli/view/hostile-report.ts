/** A handover report whose texts contain markup and formulas, for tests of the formats. */
import type { HandoverReport } from '../../../client';
import { reportPieces, type ReportFormat } from '../../../client/report-formats';
import { Output } from '../../../cli/terminal/output';
import { COMPANY_STATES } from '../../../domain/companies/company-state';
import { NO_COUNTS } from '../../../domain/companies/counts';
import { DURATION_BOUNDS_MS, type MigrationStatistics, type LedgerCompany } from '../../../store';
import type { ReportHead } from '../../../presentation/handover/report-facts';
import { capturedStream } from '../captured-terminal';

export const EVIL = `"><script>alert(1)</script><img src=x onerror='alert(1)'>&amp;\u202e`;

export const HEAD: ReportHead = {
  endedInTemporal: null,
  isFinishing: false,
  ledgerBehind: false,
  migrationId: 'acme.quickbooks-online',
  route: 'managed',
  client: EVIL,
  platformKey: 'qhyg',
  contact: `Sam ${EVIL}`,
  ending: 'completed',
  paused: false,
  suppliedAt: '2026-11-20T22:00:00.000Z',
  suppliedBy: EVIL,
  closedAt: '2026-11-22T22:00:00.000Z',
  vaultDestroyedAt: '2026-11-22T22:00:00.000Z',
  counts: { ...NO_COUNTS, total: 4, moved: 2, failed: 1, excluded: 1 },
  figures: {
    ...{
      crossed: 2,
      crossingUnknown: 0,
      movable: 0,
      mustReconnect: 1,
      mustReconnectNotCrossed: 1,
      leftOutUnauthorized: 0,
      credentialsLeft: 0,
      leftOutAtService: 0,
    },
    ...{ longestStaleHours: 6.21, medianStaleHours: 2 },
    reconnectionsCheckedAt: null,
    firstStartedAt: '2026-11-20T23:00:00.000Z',
    lastMovedAt: '2026-11-21T01:30:00.000Z',
    movingMs: 9_000_000,
  },
  applications: { moved: [], replaced: [], registered: null },
  planned: null,
  unproven: null,
  changedSinceSignOff: [],
  stoppages: [],
  decisions: [
    {
      decision: { kind: 'pause', decisionId: '1', role: 'support', by: EVIL, reason: EVIL },
      outcome: { decisionId: '1', applied: false, text: EVIL, at: '2026-11-20T22:01:00.000Z' },
    },
  ],
};

export const STATISTICS: MigrationStatistics = {
  moved: [
    { at: '2026-11-21T00:00:00.000Z', companies: 1 },
    { at: '2026-11-21T01:30:00.000Z', companies: 2 },
  ],
  durationBoundsMs: DURATION_BOUNDS_MS,
  durations: DURATION_BOUNDS_MS.map((_, index) => (index === 3 ? 2 : 0)),
  ...{ medianMs: 12_000, p95Ms: 20_000, longestMs: 20_000 },
  slowest: [
    { reference: 'C-1', name: EVIL, tookMs: 20_000 },
    { reference: 'C-2', name: 'Quill', tookMs: 12_000 },
  ],
  failures: [{ kind: 'reauthorization-required', companies: 1 }],
};

export const COMPANY: LedgerCompany = {
  ...{ row: 1, reference: 'C-1', name: EVIL, organization: EVIL, wave: null, expectedInvoices: 3 },
  ...{
    state: 'moved',
    credential: null,
    confirmedAt: null,
    crossedAt: new Date('2026-11-20T22:03:00.000Z'),
    sentAt: null,
  },
  ...{ existedBefore: false, companyId: 'company', connectionId: 'connection', storedName: 'stored', linkUrl: null },
  movedAt: new Date('2026-11-20T22:03:00.000Z'),
  ...{ failure: null, failureText: null, correlationId: 'latest', evidence: null, syncSchedule: null },
  ...{
    leftOutBy: null,
    leftOutReason: null,
    heldBack: null,
    heldBackDetails: null,
    tries: 1,
    deferred: false,
    retryAt: null,
    relinkingSince: null,
    replacedApplication: false,
  },
};

export const MUST_RECONNECT: LedgerCompany = {
  ...COMPANY,
  ...{ reference: 'C-3', state: 'failed', failure: 'reauthorization-required', failureText: EVIL, movedAt: null },
  linkUrl: 'https://link.example/?a=1&b="2"',
};

export const COMPANIES: readonly LedgerCompany[] = [
  COMPANY,
  { ...COMPANY, reference: 'C-2', name: '=HYPERLINK("https://evil.example")' },
  MUST_RECONNECT,
  {
    ...{ ...COMPANY, reference: 'C-4', state: 'excluded', leftOutBy: EVIL, leftOutReason: EVIL },
    ...{ crossedAt: null, companyId: null, connectionId: null },
  },
];

export function reportOf(companies: readonly LedgerCompany[], head: Partial<ReportHead> = {}): HandoverReport {
  return {
    head: { ...HEAD, ...head },
    statistics: async () => STATISTICS,
    replaced: async () => new Map(),
    async *companies(states = COMPANY_STATES) {
      for (const company of companies) if (states.includes(company.state)) yield company;
    },
  };
}

export async function renderReport(format: ReportFormat, report = reportOf(COMPANIES)): Promise<string> {
  const stdout = capturedStream();
  await writeReport(new Output({ stdout, stderr: stdout }, false), report, format);
  return stdout.text;
}

export async function writeReport(output: Output, report: HandoverReport, format: ReportFormat): Promise<void> {
  for await (const piece of reportPieces(report, format)) await output.stream(piece);
}
