/** The number of SQL statements that a decision needs. Its sender waits for each of them. */
import { Client } from 'pg';
import type { Decision } from '../../domain/migration/decision';
import { useImportRig } from '../support/company-import';
import { createMovableMigration, manifestRows, release } from '../support/ledger';
import { SAM, CLEO, SIGNED, steps1To3 } from '../support/signed-decisions';

const rig = useImportRig();

/** Returns the statements that the work sends to the ledger. */
async function statementsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const ledger = new URL(rig.ledger.url).pathname.slice(1);
  const query = jest.spyOn(Client.prototype, 'query');
  try {
    await work();
    const { calls, contexts } = query.mock;
    return calls
      .filter((_, call) => (contexts[call] as unknown as { readonly database: string }).database === ledger)
      .map(([statement]) => (statement as unknown as { readonly text: string }).text);
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

  test('is recorded with seven statements: lock, facts, effect, record and counts, in a transaction', async () => {
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
      expect.stringContaining('insert into "decisions"') as string,
      'commit',
      expect.stringContaining('"unconfirmedInFirstWave"') as string,
    ]);
  });

  test('that is signed and depends on the counts needs no more, unless it changes the release', async () => {
    const { id } = await createMovableMigration(rig.ledger, manifestRows(1), { decisions: SIGNED });
    await release(rig.ledger.db, id, 'nothing');
    const numbers: number[] = [];
    for (const approval of steps1To3(id, { sam: SAM, cleo: CLEO })) {
      const statements = await statementsOf(() =>
        rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded: [approval] })),
      );
      numbers.push(statements.length);
    }
    // The last one releases the first company.
    expect(numbers).toEqual([7, 7, 7, 7, 7, 8]);
  });
});
