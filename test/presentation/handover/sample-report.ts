/** Handover reports with any number of companies, and with names and texts of realistic lengths. */
import { writeFileSync } from 'node:fs';
import type { HandoverReport } from '../../../client';
import { reportPieces } from '../../../client/report-formats';
import { COMPANY_STATES } from '../../../domain/companies/company-state';
import { NO_COUNTS } from '../../../domain/companies/counts';
import type { Decision } from '../../../domain/migration/decision';
import { DURATION_BOUNDS_MS, type LedgerCompany, type MigrationStatistics } from '../../../store';

const FIRST_WORDS = ['Riverside', 'Müller & Söhne', 'Northern Lights', 'Bramble', 'Harbour View', 'Quill', 'Old Mill'];
const SECOND_WORDS = ['Dental Care', 'Interiors', 'Veterinary Practice', 'Roofing and Construction', 'Bakery', 'Café'];

function companyAt(index: number): LedgerCompany {
  const name = `${FIRST_WORDS[index % 7] ?? ''} ${SECOND_WORDS[index % 6] ?? ''} ${index}`;
  const reference = `K-${String(index).padStart(4, '0')}`;
  const moved: LedgerCompany = {
    ...{ row: index, reference, name, organization: `91303502264${index}`, wave: null, expectedInvoices: 3 },
    ...{
      state: 'moved',
      credential: null,
      confirmedAt: null,
      crossedAt: new Date('2026-11-22T08:57:00.000Z'),
      sentAt: null,
    },
    ...{ existedBefore: false, companyId: 'c6f39685-7a5c-4e43-a0cf-2c05b9e0d4a1', linkUrl: null },
    ...{ connectionId: '4271c9b0-1f0e-4e6a-8a53-0a9a2a1d9c11', storedName: name },
    movedAt: new Date(Date.parse('2026-11-22T08:57:00.000Z') + index * 1_000),
    ...{ failure: null, failureText: null, correlationId: '0f8fad5b-d9cb-469f-a165-70867728950e' },
    evidence: [
      {
        ...({ code: 'complete', label: 'invoices complete', passed: true, detail: '3 expected, 3 found' } as const),
        records: { dataType: 'invoices', expected: 3, found: 1_203 },
      },
    ],
    syncSchedule: { everyHours: { least: 1, most: 24 }, nextAt: '2026-11-23T08:57:00.000Z' },
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
  const failed = { ...moved, state: 'failed', movedAt: null, crossedAt: null } as const;
  switch (index % 40) {
    case 5:
      return {
        ...{
          ...failed,
          failure: 'reauthorization-required',
          linkUrl: `https://link.example/company/${moved.companyId}`,
        },
        failureText: 'the platform no longer accepts the authorization: invalid_grant (the token was revoked)',
      };
    case 15:
      return {
        ...{ ...failed, failure: 'incomplete', crossedAt: moved.crossedAt },
        failureText: 'fewer records than expected: invoices: 20 expected, 7 found',
      };
    case 16:
      return {
        ...{ ...failed, failure: 'wrong-organization' },
        failureText: 'the credential belongs to another organization (4271c9b0-1f0e-4e6a-8a53-0a9a2a1d9c11)',
      };
    case 25:
      return {
        ...{ ...moved, state: 'excluded', movedAt: null, crossedAt: null, leftOutBy: 'Cleo' },
        leftOutReason: 'sold to another owner last week',
      };
    default:
      return moved;
  }
}

const DECISIONS: readonly Decision[] = [
  { kind: 'step', decisionId: '1', role: 'client', by: 'Cleo', step: 'supply-details', verdict: 'approve' },
  { kind: 'pause', decisionId: '2', role: 'support', by: 'Sam', reason: 'checking K-0017 with the client' },
  { kind: 'resume', decisionId: '3', role: 'support', by: 'Sam' },
  { kind: 'exclude', decisionId: '4', role: 'client', by: 'Cleo', companies: ['K-0025'], reason: 'sold' },
];

export function sampleReport(total: number): HandoverReport {
  const companies = Array.from({ length: total }, (_, index) => companyAt(index));
  const numberOf = (isCounted: (company: LedgerCompany) => boolean): number => companies.filter(isCounted).length;
  const moved = numberOf(({ state }) => state === 'moved');
  const statistics: MigrationStatistics = {
    moved: Array.from({ length: 40 }, (_, index) => ({
      at: new Date(Date.parse('2026-11-22T21:40:00.000Z') + index * 240_000).toISOString(),
      companies: Math.ceil((moved * (index + 1)) / 40),
    })),
    durationBoundsMs: DURATION_BOUNDS_MS,
    durations: [0, 3, 40, 230, 812, 400, 120, 77, 20, 9, 4, 0, 1],
    ...{ medianMs: 42_000, p95Ms: 900_000, longestMs: 90_000_000 },
    slowest: Array.from({ length: 8 }, (_, index) => ({
      ...{ reference: `K-00${index}5`, name: `Müller & Söhne Roofing and Construction ${index}` },
      tookMs: 90_000_000 / (index + 1),
    })),
    failures: [
      {
        kind: 'reauthorization-required',
        companies: numberOf(({ failure }) => failure === 'reauthorization-required') + 3,
      },
      { kind: 'wrong-organization', companies: numberOf(({ failure }) => failure === 'wrong-organization') },
    ],
  };
  return {
    replaced: async () => new Map(),
    head: {
      endedInTemporal: null,
      isFinishing: false,
      ledgerBehind: false,
      ...{ migrationId: 'kite.quickbooks-online', route: 'managed', client: 'Kite Accounting', platformKey: 'qhyg' },
      ...{ contact: 'Sam, +44 20 7946 0000', ending: 'completed', paused: false, suppliedBy: 'Cleo', unproven: null },
      ...{ suppliedAt: '2026-11-22T08:00:00.000Z', closedAt: '2026-11-23T01:00:00.000Z', planned: null },
      vaultDestroyedAt: '2026-11-23T01:00:00.000Z',
      applications: { moved: [], replaced: [], registered: null },
      changedSinceSignOff: [],
      stoppages: [],
      counts: {
        ...NO_COUNTS,
        ...{ total, moved, failed: numberOf(({ state }) => state === 'failed') },
        excluded: numberOf(({ state }) => state === 'excluded'),
      },
      figures: {
        ...{ crossed: numberOf(({ crossedAt }) => crossedAt !== null), crossingUnknown: 0, movable: 0 },
        ...{ credentialsLeft: 0, leftOutAtService: 0, leftOutUnauthorized: 0 },
        reconnectionsCheckedAt: '2026-11-23T00:58:00.000Z',
        mustReconnect: numberOf(({ failure }) => failure === 'reauthorization-required'),
        mustReconnectNotCrossed: numberOf(
          ({ failure, crossedAt }) => failure === 'reauthorization-required' && crossedAt === null,
        ),
        ...{ longestStaleHours: 0.1, medianStaleHours: 0.05 },
        ...{ firstStartedAt: '2026-11-22T21:38:00.000Z', lastMovedAt: '2026-11-23T00:16:00.000Z', movingMs: 9_480_000 },
      },
      decisions: DECISIONS.map((decision) => ({
        decision,
        outcome: { decisionId: decision.decisionId, applied: true, text: '', at: '2026-11-22T08:30:00.000Z' },
      })),
    },
    statistics: async () => statistics,
    async *companies(states = COMPANY_STATES) {
      for (const company of companies) if (states.includes(company.state)) yield company;
    },
  };
}

/** Returns the report with names and texts that have no place to break a line. */
export function withLongWords(report: HandoverReport): HandoverReport {
  const word = 'W'.repeat(150);
  const decisions = report.head.decisions.map(({ decision, outcome }) => ({
    decision: { ...decision, by: word, reason: word },
    outcome,
  }));
  return {
    ...report,
    head: { ...report.head, ending: null, client: word, contact: word, suppliedBy: word, decisions },
    async *companies(states) {
      for await (const company of report.companies(states)) {
        const texts = { failureText: word, leftOutBy: word, leftOutReason: word };
        yield { ...company, ...texts, name: word, reference: `R-${word.slice(0, 60)}` };
      }
    },
  };
}

/** Writes the HTML report into a file, as `ferry report --format html` does. */
export async function writeSamplePage(file: string, report: HandoverReport): Promise<void> {
  const pieces: string[] = [];
  for await (const piece of reportPieces(report, 'html')) pieces.push(`${piece}\n`);
  writeFileSync(file, pieces.join(''));
}
