/** The activity that repairs a ledger: it trusts neither Temporal's history nor its caller. */
import type { DecisionRecord } from '../../../domain/migration/migration-state';
import { checkLedgerMark, readDecisions, readLedgerStatus, readMigration, supplyMigration } from '../../../store';
import { activityEnvironment, useImportRig } from '../../support/migrations/company-import';
import {
  createMovableMigration,
  manifestRows,
  readRow,
  release,
  suppliedMigration,
  updateRow,
} from '../../support/migrations/ledger';
import { BY_CLEO, BY_SAM, CLEO, recordOf, SAM, SIGNED, steps1To3 } from '../../support/migrations/signed-decisions';

const rig = useImportRig();

function allApprovals(id: string, sam: typeof SAM | null, cleo: typeof SAM | null): readonly DecisionRecord[] {
  return [...steps1To3(id, { sam, cleo }), recordOf(id, 'approve', { step: 'migrate-first-company', ...BY_SAM }, sam)];
}

/** Creates a migration that requires signed decisions and whose ledger has lost all of them. */
async function signedMigration(): Promise<string> {
  const { id } = await createMovableMigration(rig.ledger, manifestRows(2), { decisions: SIGNED });
  await release(rig.ledger.db, id, 'nothing');
  return id;
}

function reconcile(id: string, decisions: readonly DecisionRecord[], ledgerMark = 0, attempt = 1) {
  const workflowRecords = {
    stateAndMarkOf: async () => ({ workflow: 'running' as const, ledgerMark }),
    decisionsOf: async () => decisions,
  };
  const work = () => rig.worker({ workflowRecords }).reconcileLedger({ migrationId: id });
  return rig.runActivity(work, activityEnvironment({ attempt }));
}
const released = async (id: string) => (await readMigration(rig.ledger.db, id))?.released;

test('signed decisions and the release of their companies are restored', async () => {
  const id = await signedMigration();
  await updateRow(rig.ledger.db, id, 1, { state: 'moved' });
  const { decisions, refused } = await reconcile(id, allApprovals(id, SAM, CLEO), 1);
  expect(decisions).toHaveLength(7);
  expect(refused).toEqual([]);
  expect(await released(id)).toBe('all');
  const again = await reconcile(id, []);
  expect(again.decisions).toEqual([]);
});

test('a decision that had been refused is restored as refused', async () => {
  const { id } = await createMovableMigration(rig.ledger, manifestRows(2));
  const [applied, refused] = (['pause', 'resume'] as const).map((kind) => recordOf(id, kind, BY_SAM, null));
  if (!applied || !refused) throw new Error('no decisions');
  const history = [applied, { ...refused, outcome: { ...refused.outcome, applied: false } }];
  const { decisions } = await reconcile(id, history, 1);
  expect(decisions.map(({ kind, wasRefused = false }) => [kind, wasRefused])).toEqual([
    ['pause', false],
    ['resume', true],
  ]);
});

test.each<[string, (id: string) => readonly DecisionRecord[], RegExp]>([
  ['is not signed', (id) => allApprovals(id, null, null), /must be signed/],
  ['is signed with the key of someone else', (id) => allApprovals(id, CLEO, SAM), /is signed with the key of/],
  ['is signed for another migration', () => allApprovals('other', SAM, CLEO), /does not match/],
])(
  'a history in which every decision %s releases nothing, and none of its decisions is recorded',
  async (_, history, why) => {
    const id = await signedMigration();
    const { decisions, refused } = await reconcile(id, history(id));
    expect(decisions).toEqual([]);
    expect(refused).toHaveLength(7);
    for (const each of refused) expect(each.why).toMatch(why);
    expect(await released(id)).toBe('nothing');
    expect(await readDecisions(rig.ledger.db, id)).toEqual([]);
  },
);

test('an added approver is restored only if support has signed the addition', async () => {
  const approver = { role: 'client', by: 'Dana', publicKey: CLEO.publicKey } as const;
  const ofSupport = { ...SIGNED, approvers: [{ ...BY_SAM, publicKey: SAM.publicKey }] };
  const restore = async (adder: typeof SAM) => {
    const { id } = await createMovableMigration(rig.ledger, manifestRows(2), { decisions: ofSupport });
    const history = [
      recordOf(id, 'addApprover', { approver, ...BY_SAM }, adder),
      recordOf(id, 'pause', { role: 'client', by: 'Dana' }, CLEO),
    ];
    const { decisions, refused } = await reconcile(id, history, 1);
    return { restored: decisions.length, refused: refused.length };
  };
  expect(await restore(SAM)).toEqual({ restored: 2, refused: 0 });
  expect(await restore(CLEO)).toEqual({ restored: 0, refused: 2 });
});

test('the first company is not approved if neither the ledger nor the service has a company', async () => {
  const id = await signedMigration();
  const { refused } = await reconcile(id, allApprovals(id, SAM, CLEO), 1);
  expect(refused).toMatchObject([{ why: 'the first company has no result yet' }]);
  expect(await released(id)).toBe('first-company');
});

test('a sign-off with open companies is restored only if something shows that the ledger is behind', async () => {
  const id = await signedMigration();
  await rig.ledger.db.updateTable('migrations').set({ first_row: 1 }).where('id', '=', id).execute();
  const approvals = allApprovals(id, SAM, CLEO);
  const record = (recorded: readonly DecisionRecord[]) =>
    rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded }));
  await record(approvals.slice(0, -1));
  await updateRow(rig.ledger.db, id, 1, { state: 'moved' });
  await record(approvals.slice(-1));
  expect(await released(id)).toBe('all');
  const signOff = recordOf(id, 'approve', { step: 'complete-migration', ...BY_CLEO }, CLEO);
  const why = '1 company has no final outcome yet';
  expect((await reconcile(id, [signOff])).refused).toMatchObject([{ why }]);
  // The flag that the first reconciliation has set does not prove that the ledger is behind.
  expect((await reconcile(id, [signOff])).refused).toMatchObject([{ why }]);
  expect((await reconcile(id, [signOff], 10_000_000)).refused).toEqual([]);
});

test('the service shows that the ledger is behind, even to a second attempt', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5']);
  await rig.importSlice(id);
  await rig.ledger.db.updateTable('companies').set({ state: 'waiting', tries: 0, attempt: null }).execute();
  await release(rig.ledger.db, id, 'nothing');
  rig.proxy.on('POST', /\/data\/all$/, [(response) => void response.destroy()]);
  const history = allApprovals(id, null, null);
  await reconcile(id, history).catch(() => undefined);
  const { refused } = await reconcile(id, history);
  expect(refused).toEqual([]);
  expect(await released(id)).toBe('all');
});

test('a linked company that the ledger has lost gets its syncs started', async () => {
  const { id } = await rig.migration(['sbx-ok-10']);
  rig.dieAfter(id, 'PUT', /\/authorization$/);
  await rig.importSlice(id);
  await updateRow(rig.ledger.db, id, 1, { state: 'waiting', tries: 0, attempt: null, authorization_sent_at: null });
  const syncs = () => rig.proxy.arrived('POST', /\/data\/all$/).length;
  const before = syncs();
  const reconciledAt = Date.now();
  expect(await reconcile(id, [])).toMatchObject({ linked: ['c1'] });
  expect(syncs()).toBe(before + 1);
  // `crossed_at` is the time of the authorization, so the company counts under the application of that time.
  expect((await readRow(rig.ledger.db, id, 1)).crossed_at?.getTime()).toBeLessThan(reconciledAt);
  expect(await rig.verify(id)).toMatchObject({ finished: 1 });
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'moved' });
});

test('a company whose authorization succeeds while the ledger is compared keeps its grant', async () => {
  const { id } = await rig.migration(['sbx-ok-5']);
  rig.dieAfter(id, 'POST', /\/connections$/);
  await rig.importSlice(id);
  const connect = async () => {
    await updateRow(rig.ledger.db, id, 1, { state: 'waiting', attempt: null, not_before: null, lease_ends_at: null });
    await rig.ledger.db.updateTable('migrations').set({ behind_since: null }).where('id', '=', id).execute();
    await rig.importSlice(id, { worker: rig.worker({ service: rig.directClient }) });
    await rig.ledger.db.updateTable('migrations').set({ behind_since: new Date() }).where('id', '=', id).execute();
  };
  const listed: string[] = [];
  rig.proxy.on('GET', /^\/companies\?/, async (response, _request, forward) => {
    const { status, headers, body } = await forward();
    listed.push(body);
    // The first comparison of the companies reads this second list.
    if (listed.length === 2) await connect();
    response.writeHead(status, headers).end(body);
  });
  expect(await reconcile(id, [])).toMatchObject({ notMoved: [] });
  expect(listed[1]).toContain('PendingAuth');
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'syncing' });
});

/** Loses the request that sends a token, and makes the ledger forget the claim and the ids, as a restore does. */
async function loseClaim(id: string): Promise<void> {
  rig.proxy.on('PUT', /\/authorization$/, [(response) => void response.destroy()]);
  await rig.importSlice(id, { atOnce: 1 });
  const forgotten = { attempt: null, authorization_sent_at: null, company_id: null, connection_id: null };
  await updateRow(rig.ledger.db, id, 1, { state: 'waiting', tries: 0, lease_ends_at: null, ...forgotten });
}

test('in self-service, a decision of support that was applied before only the client could make it is restored', async () => {
  const migration = suppliedMigration({ route: 'self-service' });
  const { id } = migration;
  await supplyMigration(rig.ledger.db, migration, manifestRows(2));
  const exclude = recordOf(id, 'exclude', { companies: ['c1'], reason: 'sold', ...BY_SAM }, null);
  const { outcomes } = await rig.runActivity((activities) =>
    activities.recordDecisions({
      migrationId: id,
      recorded: [recordOf(id, 'exclude', { companies: ['c2'], reason: 'sold', ...BY_SAM }, null)],
    }),
  );
  expect(outcomes).toMatchObject([{ applied: false }]);
  expect((await reconcile(id, [exclude])).refused).toEqual([]);
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'excluded' });
  expect(await readRow(rig.ledger.db, id, 2)).toMatchObject({ state: 'waiting' });
});

test('a company that was skipped after the backup is skipped again, and its token is not sent', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5'], { platformKey: 'vxvy' });
  await loseClaim(id);
  const skip = recordOf(id, 'skip', { companies: ['c1'], reason: 'the client keeps it', ...BY_SAM }, null);
  await updateRow(rig.ledger.db, id, 2, { state: 'moved' });
  const history = [...allApprovals(id, null, null), skip];
  expect(await reconcile(id, history, 10_000_000)).toMatchObject({ refused: [], interrupted: [] });
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'skipped' });
});

test.each([
  ['is not confirmed', { confirmed_at: null }],
  ['is held back', { held_back: 'checked' as const }],
  ['belongs to a token family', { family: 'anna' }],
])('a company whose single-use token might have been used is left to a person if it %s', async (_, columns) => {
  const { id } = await rig.migration(['sbx-ok-5'], { platformKey: 'vxvy' });
  await loseClaim(id);
  await updateRow(rig.ledger.db, id, 1, columns);
  expect(await reconcile(id, [])).toMatchObject({ unknown: ['c1'], interrupted: [] });
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'outcome-unknown' });
});

test('a single-use token whose claim the ledger has lost is sent to its connection once more, after a lease', async () => {
  const { id } = await rig.migration(['sbx-ok-5'], { platformKey: 'vxvy' });
  const puts = () => rig.proxy.arrived('PUT', /\/authorization$/).map(({ url, body }) => url + body);
  await loseClaim(id);
  const first = await reconcile(id, []);
  expect(first).toMatchObject({ interrupted: ['c1'] });
  expect(first).not.toHaveProperty('isIncomplete');
  expect(await reconcile(id, [])).toMatchObject({ interrupted: [] });
  await rig.importSlice(id);
  expect(puts()).toHaveLength(1);
  await rig.expireLeases(id);
  await rig.importSlice(id);
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'syncing' });
  expect(puts()).toHaveLength(2);
  expect(new Set(puts()).size).toBe(1);
});

test('after an interruption, the report is incomplete, and a person decides about a token that may have been used', async () => {
  const { id } = await rig.migration(['sbx-ok-5'], { platformKey: 'vxvy' });
  await loseClaim(id);
  const workflowRecords = {
    stateAndMarkOf: async () => ({ workflow: 'running' as const, ledgerMark: 0 }),
    decisionsOf: async () => Promise.reject(new Error('Temporal does not answer')),
  };
  await expect(
    rig.runActivity(() => rig.worker({ workflowRecords }).reconcileLedger({ migrationId: id })),
  ).rejects.toThrow('does not answer');
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'outcome-unknown' });
  expect(await reconcile(id, [], 0, 2)).toMatchObject({ unknown: [], interrupted: [], isIncomplete: true });
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'outcome-unknown' });
});

test('a signed decision that is older than a decision in the ledger is not restored', async () => {
  const id = await signedMigration();
  const pause = recordOf(id, 'pause', { reason: 'a problem', ...BY_SAM }, SAM);
  const resume = recordOf(id, 'resume', BY_SAM, SAM);
  await rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded: [resume] }));
  const { refused } = await reconcile(id, [pause]);
  expect(refused).toMatchObject([{ kind: 'pause', why: expect.stringContaining('out of order') as string }]);
});

test('after a reconciliation, the ledger is regarded as current, even if a slice knows a higher mark', async () => {
  const id = await signedMigration();
  await checkLedgerMark(rig.ledger.db, id, 7);
  expect(await readLedgerStatus(rig.ledger.db, id)).toMatchObject({ behindSince: expect.any(Date) as Date });
  await reconcile(id, [], 7);
  expect(await checkLedgerMark(rig.ledger.db, id, 7 + 1_000)).toMatchObject({ behindSince: null });
});
