/** A company of the handover report for tests, and its rows. */
import { sectionsOf, type ReportedCompany } from '../../../presentation/handover/company-sections';
import { sectionRow } from '../../../presentation/handover/markdown-report';
import type { MoveStage } from '../../../domain/companies/company-state';

export const COMPANY: ReportedCompany = {
  reference: 'C-1',
  name: 'Bramble | Finch\nInteriors',
  storedName: 'Bramble Finch Interiors',
  organization: '91',
  state: 'moved',
  credential: null,
  confirmedAt: null,
  crossedAt: new Date('2026-11-20T22:03:00.000Z'),
  sentAt: null,
  existedBefore: false,
  companyId: 'company',
  connectionId: 'connection',
  linkUrl: 'https://link.example/1',
  movedAt: new Date('2026-11-20T22:03:00.000Z'),
  failure: null,
  failureText: null,
  correlationId: 'latest',
  evidence: [
    {
      code: 'refreshed',
      label: 'token accepted by the platform',
      passed: true,
      detail: '',
      correlationId: 'authorization',
      durationMs: 3,
    },
    {
      code: 'organization',
      label: 'right organization',
      passed: true,
      detail: '91 (Organization 91); the manifest calls the company Bramble',
    },
    {
      code: 'complete',
      label: 'invoices complete',
      passed: true,
      detail: '3 expected, 3 found',
      correlationId: 'counted',
      records: { dataType: 'invoices', expected: 3, found: 3 },
    },
  ],
  syncSchedule: { everyHours: { least: 24, most: 24 }, nextAt: '2026-11-21T22:03:00.000Z' },
  leftOutBy: null,
  leftOutReason: null,
  heldBack: null,
  tries: 1,
  deferred: false,
  retryAt: null,
  relinkingSince: null,
  replacedApplication: false,
};

export const NOW = '2026-11-21T09:00:00.000Z';
export const NONE_REPLACED = { moved: [], replaced: [], registered: null };
export const OLD = {
  application: { clientId: 'old-app', environment: 'production' },
  companies: 1,
  references: ['C-1'],
};
export const REPLACED = { moved: [OLD], replaced: [OLD], registered: null };

/** Returns the rows of a company, by the title of the section. */
export function rowsOf(company: ReportedCompany, ended: boolean | MoveStage): Record<string, string> {
  const stage = typeof ended === 'string' ? ended : ended ? 'ended' : 'open';
  const sections = sectionsOf(stage, REPLACED).filter(
    ({ states, includes: holds }) => states.includes(company.state) && holds(company),
  );
  return Object.fromEntries(
    sections.map((section) => [
      section.title,
      sectionRow(section, company, { stage, route: 'managed', year: '2026', now: NOW }),
    ]),
  );
}
