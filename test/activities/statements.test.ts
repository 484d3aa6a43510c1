/**
 * The number of SQL statements that a decision and a group of companies need. The sender of a decision waits for each
 * statement. A slice claims companies, and writes their outcomes, in groups (activities/companies/worker-pool.ts), so
 * it needs the statements for every group.
 */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { Decision } from '../../domain/migration/decision';
import { runWorkerPool } from '../../activities/companies/worker-pool';
import { changeLimits, claimCompanies, createSendIntentRecorder, type ClaimedCompany } from '../../store';
import { useImportRig } from '../support/migrations/company-import';
import { createMovableMigration, manifestRows, msFromNow, release } from '../support/migrations/ledger';
import { SAM, CLEO, SIGNED, steps1To3 } from '../support/migrations/signed-decisions';

const rig = useImportRig();

/** Returns the statements that the work sends to the ledger, except the occasional search for dead attempts. */
async function statementsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const ledger = new URL(rig.ledger.url).pathname.slice(1);
  const query = jest.spyOn(Client.prototype, 'query');
  try {
    await work();
    const { calls, contexts } = query.mock;
    return calls
      .filter((_, call) => (contexts[call] as unknown as { readonly database: string }).database === ledger)
      .map(([statement]) => (statement as unknown as { readonly text: string }).text)
      .filter((text) => !/c\.lease_ends_at < clock_timestamp\(\)/.test(text));
  } finally {
    query.mockRestore();
  }
}

describe('a decision', () => {
  const support = { role: 'support', by: 'Sam' } as const;
  const recorded = (decision: Decision) => ({
    decision,
    outcome: { decisionId: decision.decisionId, applied: true, text: 'done', at: new Date().toISOString() },
  });

  test('is recorded with eight statements: a transaction with lock, facts, effects and record, and then the counts', async () => {
    const { id } = await rig.migration(['sbx-ok-1']);
    const pause = recorded({ kind: 'pause', decisionId: 'p', ...support });
    const statements = await statementsOf(() =>
      rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded: [pause] })),
    );
    expect(statements).toEqual([
      'begin',
      expect.stringContaining('pg_advisory_xact_lock') as string,
      expect.stringContaining('decision_rules') as string,
      expect.stringContaining('update "migrations"') as string,
      expect.stringContaining('update stoppages') as string,
      expect.stringContaining('insert into "decisions"') as string,
      'commit',
      expect.stringContaining('"unconfirmedInFirstWave"') as string,
    ]);
  });

  test('that is signed and depends on the counts needs no more statements, unless it changes the release', async () => {
    const { id } = await createMovableMigration(rig.ledger, manifestRows(1), { decisions: SIGNED });
    await release(rig.ledger.db, id, 'nothing');
    const numbers: number[] = [];
    for (const approval of steps1To3(id, { sam: SAM, cleo: CLEO })) {
      const statements = await statementsOf(() =>
        rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded: [approval] })),
      );
      numbers.push(statements.length);
    }
    // The last approval releases the first company.
    expect(numbers).toEqual([7, 7, 7, 7, 7, 8]);
  });
});

describe('a group', () => {
  const tokens = (count: number) => Array.from({ length: count }, () => 'sbx-ok-10');
  const GROUPS = { few: 2, many: 5 };

  /** Waits for microtasks without ending the current turn of the event loop. */
  async function microtasks(count: number): Promise<void> {
    for (let done = 0; done < count; done += 1) await Promise.resolve();
  }

  /**
   * Returns the number of statements per group. Each group is a single company, because a slice imports or verifies one
   * company at a time.
   */
  async function perGroup(prepare: (id: string) => Promise<unknown>, slice: (id: string) => Promise<unknown>) {
    const count = async (companies: number): Promise<number> => {
      const { id } = await rig.migration(tokens(companies));
      await changeLimits(rig.ledger.db, id, { slicesAtOnce: 1, companiesPerSliceAtOnce: 1 });
      await prepare(id);
      return (await statementsOf(() => slice(id))).length;
    };
    return ((await count(GROUPS.many)) - (await count(GROUPS.few))) / (GROUPS.many - GROUPS.few);
  }

  test('is imported with three statements: claim, send intents and outcomes', async () => {
    const importSlice = (migrationId: string) =>
      rig.runActivity((activities) => activities.importSlice({ migrationId, run: 'run-1', slice: 1, ledgerMark: 0 }));
    expect(await perGroup(async () => undefined, importSlice)).toBe(3);
  });

  test('shares one statement for the send intents of all companies that reach them in the same turn of the event loop', async () => {
    const { owner } = await rig.migration(tokens(3));
    const companies = await claimCompanies(rig.ledger.db, owner, 3, null);
    const recordSendIntent = createSendIntentRecorder(rig.ledger.db, owner);
    const send = async ({ row }: ClaimedCompany): Promise<void> => {
      await microtasks(10 * row);
      await recordSendIntent({ row, connectionId: randomUUID() });
    };
    expect(await statementsOf(() => Promise.all(companies.map(send)))).toHaveLength(1);
  });

  test('contains all results of one turn of the event loop', async () => {
    const items = [1, 2, 3, 4];
    const groups: (readonly number[])[] = [];
    await runWorkerPool<number, number>({
      take: async () => ({ items: items.splice(0), concurrency: 4, nextTakeAt: 0 }),
      handle: async (item) => {
        await microtasks(10 * item);
        return item;
      },
      write: async (results) => {
        groups.push(results);
        return true;
      },
    });
    expect(groups).toEqual([[1, 2, 3, 4]]);
  });

  test('is verified with two statements: companies that are due, and outcomes', async () => {
    const makeDue = async (id: string) => {
      await rig.importSlice(id, { atOnce: 1 });
      await rig.ledger.db
        .updateTable('companies')
        .set({ next_check_at: msFromNow(-1) })
        .where('migration_id', '=', id)
        .execute();
    };
    const verifySlice = (migrationId: string) =>
      rig.runActivity((activities) => activities.verifySlice({ migrationId }));
    expect(await perGroup(makeDue, verifySlice)).toBe(2);
  });
});
