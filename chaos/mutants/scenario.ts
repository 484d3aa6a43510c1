/** Takes a small migration through its steps with the build of a mutant, as the people who use the product do. */
import type { LedgerClient } from '../../client';
import type { Window } from '../../domain/planning/windows';
import { companyOf, platformOf } from '../driver/companies';
import { ChaosMigration, SUPPORT } from '../driver/migration';
import type { Scenario } from './mutants';

const REACHED_WITHIN_MS = 120_000;
const INVOICES = 2;

/** The behaviours of the platform: three companies can be moved, one lacks data, and one must reconnect. */
const BEHAVIOURS = [`ok-${INVOICES}`, `ok-${INVOICES}`, `ok-${INVOICES}`, `short-1-of-${INVOICES}`, 'revoked'];
/** A sixth company, which the client does not confirm. */
const UNCONFIRMED = `ok-${INVOICES}`;

export interface ScenarioOptions {
  readonly ferry: LedgerClient;
  /** Short name of the client; part of the migration's id. */
  readonly name: string;
  /** The id of the first organization; the other ids follow. */
  readonly organization: number;
  readonly scenario: Scenario;
  readonly decisionLog: string;
  /** Called when the first company has been moved. */
  readonly onFirstMoved: () => void;
}

/**
 * Moves companies until all but `waitingAtEnd` of them have an outcome. Then changes a limit, and cancels the migration
 * if the scenario says so.
 *
 * @throws if they do not have an outcome in time
 */
export async function runScenario(options: ScenarioOptions): Promise<ChaosMigration> {
  const { ferry, name, organization, scenario, decisionLog, onFirstMoved } = options;
  const platform = platformOf('freshbooks');
  const companies = [...BEHAVIOURS, UNCONFIRMED].map((behaviour, index) =>
    companyOf(platform, index + 1, String(organization + index), {
      ...{ behaviour: `sbx-${behaviour}`, expectedInvoices: INVOICES },
      wave: index < BEHAVIOURS.length ? 1 : 2,
    }),
  );
  const migration = await ChaosMigration.start(ferry, {
    ...{ client: name, platform, companies, signers: [], decisionLog },
    limits: { rampCompanies: 0, windows: scenario.windows as readonly Window[] },
  });
  const confirmed = companies.slice(0, BEHAVIOURS.length).map(({ row: { reference } }) => reference);
  await migration.releaseFirstCompany(confirmed);
  await migration.until(({ counts }) => counts.moved > 0, REACHED_WITHIN_MS);
  onFirstMoved();
  if (scenario.approvesFirst) await migration.approveFirstCompany();
  await migration.until(
    ({ counts }) => counts.waiting <= scenario.waitingAtEnd && counts.importing === 0 && counts.syncing === 0,
    REACHED_WITHIN_MS,
  );
  await migration.apply('adjust', { limits: { slicesAtOnce: 2 }, ...SUPPORT });
  if (scenario.cancels) {
    await migration.decide('cancel', { reason: 'the run is over', ...SUPPORT });
    await ferry.temporal.workflow.getHandle(migration.id).result();
  }
  return migration;
}
