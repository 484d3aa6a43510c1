/** The activity that records decisions: it verifies each decision against the ledger, and only then applies it. */
import { applyToCompanies } from '../../../activities/migration/exceptions';
import type { Decision, StepDecision } from '../../../domain/migration/decision';
import type { DecisionRecord } from '../../../domain/migration/migration-state';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { readDecisions, readMigration, stageCredentials, supplyMigration } from '../../../store';
import { useImportRig } from '../../support/migrations/company-import';
import {
  CONFIRMED_AT,
  createMovableMigration,
  credentialOf,
  manifestRows,
  readRow,
  release,
  suppliedMigration,
  updateRow,
} from '../../support/migrations/ledger';
import { BY_CLEO, BY_SAM, CLEO, recordOf, SAM, SIGNED, steps1To3 } from '../../support/migrations/signed-decisions';

const rig = useImportRig();

describe('a decision', () => {
  const AT = new Date().toISOString();
  const sent = { role: 'client', by: 'Cleo' } as const;
  const support = { role: 'support', by: 'Sam' } as const;
  const record = async (id: string, ...decisions: readonly (readonly [Decision, boolean])[]) => {
    const recorded: DecisionRecord[] = decisions.map(([decision, applied]) => ({
      decision,
      outcome: { decisionId: decision.decisionId, applied, text: 'done', at: AT },
    }));
    return rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded }));
  };

  test('reaches the ledger and the audit trail, but only the audit trail if it is refused', async () => {
    const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5']);
    const { db } = rig.ledger;
    for (const row of [1, 2]) await updateRow(db, id, row, { confirmed_at: null });
    const { counts } = await record(
      id,
      [{ kind: 'sync-disabled', decisionId: 'a', companies: ['c1'], ...sent }, true],
      [{ kind: 'sync-disabled', decisionId: 'b', companies: ['c2'], ...sent }, false],
    );
    expect(counts).toMatchObject({ total: 2, unconfirmed: 1 });
    expect((await readRow(db, id, 1)).confirmed_at).toEqual(new Date(AT));
    expect(await readDecisions(db, id)).toHaveLength(2);
  });

  test('that changes only some of its companies is recorded with the number that it changed', async () => {
    const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5', 'sbx-ok-5']);
    const { db } = rig.ledger;
    await updateRow(db, id, 2, { state: 'importing', attempt: 'a' });
    const all: Decision = { kind: 'exclude', decisionId: 'a', companies: ['c3'], reason: 'sold', ...support };
    const companies = ['c1', 'c2', 'c9', 'c1'];
    const exclude: Decision = { kind: 'exclude', decisionId: 'e', companies, reason: 'sold', ...sent };
    // A repeated decision is recorded once.
    await record(id, [all, true], [exclude, true]);
    await record(id, [all, true], [exclude, true]);
    expect(await readRow(db, id, 1)).toMatchObject({ state: 'excluded' });
    expect(await readRow(db, id, 2)).toMatchObject({ state: 'importing' });
    const texts = (await readDecisions(db, id)).map(({ outcome }) => outcome.text);
    expect(texts).toEqual([
      'done',
      'done; applied to 1 of 3 companies: the other companies do not exist, or their state does not allow the decision',
    ]);
  });

  const failedCompanies = async (released: 'first-company' | 'all') => {
    const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5', 'sbx-ok-5']);
    const { db } = rig.ledger;
    await db.updateTable('migrations').set({ released, first_row: 1 }).where('id', '=', id).execute();
    for (const row of [1, 2]) await updateRow(db, id, row, { state: 'failed', failure: 'incomplete' });
    await updateRow(db, id, 3, { state: 'moved' });
    return id;
  };
  const retryAll = async (id: string, text: string) => {
    const decision: Decision = { kind: 'retry', decisionId: 'r', companies: 'all', ...support };
    return applyToCompanies(rig.ledger.db, id, decision, { decisionId: 'r', applied: true, text, at: AT });
  };

  test('that retries all companies is recorded with the number of companies that it retries', async () => {
    const id = await failedCompanies('all');
    const text = 'all companies that failed, were deferred or have an unknown outcome will be tried again';
    expect(await retryAll(id, text)).toBe('2 companies will be tried again');
    expect(await readRow(rig.ledger.db, id, 2)).toMatchObject({ state: 'waiting' });
  });

  test('that retries all companies in step 5 retries only the first company', async () => {
    const id = await failedCompanies('first-company');
    const text = 'the first company will be tried again';
    expect(await retryAll(id, text)).toBe(text);
    expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'waiting' });
    expect(await readRow(rig.ledger.db, id, 2)).toMatchObject({ state: 'failed' });
  });

  test('that announces more credentials than were staged is recorded with the number that was staged', async () => {
    const { id, rows } = await rig.migration(['sbx-ok-5']);
    const staged = { decisionId: 'c', replaces: false };
    await stageCredentials(
      rig.ledger.db,
      id,
      rows.map((row) => credentialOf(row)),
      'Cleo',
      staged,
    );
    await record(id, [{ kind: 'credentials-supplied', decisionId: 'c', companies: 5, ...sent }, true]);
    const [{ outcome } = { outcome: null }] = await readDecisions(rig.ledger.db, id);
    expect(outcome?.text).toBe(
      '1 credential supplied, although the decision says 5: 4 other credentials did not arrive, or the state of their companies does not allow a new credential',
    );
  });

  test('is recorded once if it is sent twice', async () => {
    const { id } = await rig.migration(['sbx-ok-5']);
    const pause: readonly [Decision, boolean] = [{ kind: 'pause', decisionId: 'p', ...sent }, true];
    await record(id, pause);
    await record(id, pause);
    expect(await readDecisions(rig.ledger.db, id)).toHaveLength(1);
    expect(await rig.importSlice(id)).toMatchObject({ claimed: 0, nextClaimInMs: null });
    await record(id, [{ kind: 'resume', decisionId: 'r', ...sent }, true]);
    expect(await rig.importSlice(id)).toMatchObject({ claimed: 1 });
  });
});

/** The release that the ledger stores, and the rows that can be claimed with it. */
describe('companies are released by recorded approvals', () => {
  const record = (id: string, ...recorded: readonly DecisionRecord[]) =>
    rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded }));
  /**
   * Creates a migration that requires signed decisions. Nothing is released yet, but its companies have everything else
   * that they need to be moved.
   */
  async function signedMigration(companies = 3): Promise<string> {
    const { id } = await createMovableMigration(rig.ledger, manifestRows(companies), { decisions: SIGNED });
    await release(rig.ledger.db, id, 'nothing');
    return id;
  }
  const released = async (id: string) => (await readMigration(rig.ledger.db, id))?.released;

  test('first none, then the first company, then all', async () => {
    const id = await signedMigration();
    const { db } = rig.ledger;
    await record(id, ...steps1To3(id, { sam: SAM, cleo: CLEO }).slice(0, 5));
    expect(await released(id)).toBe('nothing');
    expect(await rig.importSlice(id)).toMatchObject({ claimed: 0 });
    await record(id, recordOf(id, 'approve', { step: 'update-application', ...BY_SAM }, SAM));
    expect(await released(id)).toBe('first-company');

    const choose = () => rig.runActivity((activities) => activities.chooseFirstCompany({ migrationId: id }));
    expect(await choose()).toEqual({ row: 1, reference: 'c1' });
    const advance = (row: number) =>
      rig.runActivity((activities) => activities.advanceFirstCompany({ migrationId: id, row, ledgerMark: 0 }));
    await advance(2);
    await updateRow(db, id, 1, { state: 'moved' });
    // The choice cannot change without a decision. Otherwise one company after another would be moved as the first
    // company.
    expect(await choose()).toEqual({ row: 1, reference: 'c1' });
    expect([(await readRow(db, id, 2)).state, (await readRow(db, id, 3)).state]).toEqual(['waiting', 'waiting']);

    const begin = () => rig.runActivity((activities) => activities.beginRun({ migrationId: id, run: 'run-1' }));
    await expect(begin()).rejects.toThrow(/no recorded decision allows all companies/);
    await record(id, recordOf(id, 'approve', { step: 'migrate-first-company', ...BY_SAM }, SAM));
    expect(await released(id)).toBe('all');
    await begin();
    expect(await rig.importSlice(id)).toMatchObject({ claimed: 2 });
  });

  test.each<[string, (id: string) => readonly DecisionRecord[], RegExp]>([
    ['unsigned decisions', (id) => steps1To3(id, { sam: null, cleo: null }), /must be signed/],
    ['decisions signed with another key', (id) => steps1To3(id, { sam: CLEO, cleo: SAM }), /is signed with the key of/],
    ['decisions signed for another migration', () => steps1To3('other', { sam: SAM, cleo: CLEO }), /does not match/],
    [
      'decisions that differ from what was signed',
      (id) =>
        steps1To3(id, { sam: SAM, cleo: CLEO }).map((each) => ({
          ...each,
          decision: { ...each.decision, by: 'Eve' } as Decision,
        })),
      /differs from the recorded decision/,
    ],
    [
      'signed decisions of the wrong role',
      (id) => [
        recordOf(id, 'confirmSyncDisabled', { companies: 'all', ...BY_SAM }, SAM),
        recordOf(id, 'approve', { step: 'supply-details', ...BY_CLEO }, CLEO),
        recordOf(id, 'adjust', { limits: { rampCompanies: 0 }, ...BY_CLEO }, CLEO),
      ],
      /only the client can confirm|only support can approve|only support can change/,
    ],
    [
      'confirmations without a signature',
      (id) => [recordOf(id, 'confirmSyncDisabled', { companies: 'all', ...BY_CLEO }, null)],
      /must be signed/,
    ],
  ])('but not by %s, which are recorded as refused', async (_, records, why) => {
    const id = await signedMigration(1);
    await updateRow(rig.ledger.db, id, 1, { confirmed_at: null });
    const { outcomes } = await record(id, ...records(id));
    for (const { applied, text } of outcomes) {
      expect(applied).toBe(false);
      expect(text).toMatch(why);
    }
    expect(await released(id)).toBe('nothing');
    expect((await readRow(rig.ledger.db, id, 1)).confirmed_at).toBeNull();
    expect((await readDecisions(rig.ledger.db, id)).map(({ outcome }) => outcome)).toEqual(outcomes);
  });

  test('not by a signed decision that is sent again under another id or out of order', async () => {
    const id = await signedMigration(1);
    const [supplied, , scheduled] = steps1To3(id, { sam: SAM, cleo: CLEO });
    if (!supplied || !scheduled) throw new Error('a decision is missing');
    expect((await record(id, scheduled)).outcomes).toMatchObject([{ applied: false }]);
    expect((await record(id, supplied)).outcomes).toMatchObject([{ applied: true }]);
    const again = { ...supplied, outcome: { ...supplied.outcome, decisionId: 'again' } };
    const replayed = { ...again, decision: { ...supplied.decision, decisionId: 'again' } as StepDecision };
    expect((await record(id, replayed)).outcomes).toMatchObject([{ applied: false }]);
    expect((await record(id, supplied)).outcomes).toMatchObject([{ applied: true, text: 'done' }]);
  });

  test('not by a signed decision that arrives after a later decision of the same person was refused', async () => {
    const id = await signedMigration(1);
    const late = recordOf(id, 'pause', BY_SAM, SAM);
    const refused = recordOf(id, 'approve', { step: 'schedule', ...BY_SAM }, SAM);
    expect((await record(id, refused, late)).outcomes).toMatchObject([
      { applied: false, text: expect.stringContaining('step 2 (schedule the migration) is not open yet') as string },
      { applied: false, text: expect.stringContaining('out of order') as string },
    ]);
    expect((await readMigration(rig.ledger.db, id))?.paused).toBe(false);
  });

  test('not if an older version created the migration, because its rules are not in the ledger', async () => {
    const id = await signedMigration(1);
    await rig.ledger.db.updateTable('migrations').set({ decision_rules: null }).where('id', '=', id).execute();
    const { outcomes } = await record(id, ...steps1To3(id, { sam: SAM, cleo: CLEO }));
    expect(outcomes.every(({ applied }) => !applied)).toBe(true);
    // The client reads this text in the portal, so it contains no command that only support can run.
    expect(new Set(outcomes.map(({ text }) => text))).toEqual(
      new Set([
        'an older version of Tokenferry created this migration, so no decision is accepted; support must terminate it and start a new migration with another label',
      ]),
    );
  });

  test('even unsigned, if the migration has no approvers; under four eyes, one person cannot act for both sides', async () => {
    const unsigned = { sam: null, cleo: null };
    const { id } = await createMovableMigration(rig.ledger, manifestRows(1));
    await release(rig.ledger.db, id, 'nothing');
    await record(id, ...steps1To3(id, unsigned));
    expect(await released(id)).toBe('first-company');

    const decisions = { ...DEFAULT_DECISION_RULES, fourEyes: true };
    const { id: careful } = await createMovableMigration(rig.ledger, manifestRows(1), { decisions });
    await release(rig.ledger.db, careful, 'nothing');
    const { outcomes } = await record(careful, ...steps1To3(careful, unsigned));
    expect(outcomes.filter(({ applied }) => !applied).map(({ text }) => text)).toEqual([
      'Cleo proposed this time; someone else must approve it',
    ]);
    expect(await released(careful)).toBe('nothing');
  });

  test.each<[string, DecisionMessage, object]>([
    ['a rejection', 'reject', { step: 'migrate-first-company', reason: 'x', next: 'same-company', company: 'c2' }],
    ['a retry', 'retry', { companies: ['c2'] }],
  ])(
    'and %s retries the company that it names, even if a resume has cleared the choice',
    async (_, message, fields) => {
      const id = await signedMigration();
      const { db } = rig.ledger;
      const choose = () => rig.runActivity((activities) => activities.chooseFirstCompany({ migrationId: id }));
      await record(id, ...steps1To3(id, { sam: SAM, cleo: CLEO }));
      await updateRow(db, id, 1, { confirmed_at: null });
      expect(await choose()).toEqual({ row: 2, reference: 'c2' });
      await updateRow(db, id, 2, { state: 'failed', failure: 'incomplete' });
      await updateRow(db, id, 1, { confirmed_at: new Date(CONFIRMED_AT) });
      await record(id, recordOf(id, 'pause', BY_SAM, SAM), recordOf(id, 'resume', BY_SAM, SAM));
      await record(id, recordOf(id, message, { ...fields, ...BY_SAM }, SAM));
      expect(await choose()).toEqual({ row: 2, reference: 'c2' });
    },
  );

  test('not without the digest of the reviewed details, if the rules require it', async () => {
    const decisions = { ...DEFAULT_DECISION_RULES, requireDigest: true };
    const { id } = await createMovableMigration(rig.ledger, manifestRows(1), { decisions });
    await release(rig.ledger.db, id, 'nothing');
    const { outcomes } = await record(id, ...steps1To3(id, { sam: null, cleo: null }));
    expect(outcomes[0]).toMatchObject({
      applied: false,
      text: expect.stringContaining('requires the digest') as string,
    });
    expect(await released(id)).toBe('nothing');
  });

  test('in the self-service route, as soon as the migration is created', async () => {
    const migration = suppliedMigration({ route: 'self-service' });
    await supplyMigration(rig.ledger.db, migration, manifestRows(1));
    expect(await released(migration.id)).toBe('all');
  });
});
