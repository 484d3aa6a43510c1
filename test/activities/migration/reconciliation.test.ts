/** The activity that repairs a ledger: it trusts neither Temporal's history nor its caller. */
import type { DecisionRecord } from '../../../domain/migration/migration-state';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { parseDecision } from '../../../domain/migration/parse-decision';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { signedText } from '../../../domain/migration/signatures';
import { createSigningKey, parseSigningKey, Secret } from '../../../security';
import { checkLedgerMark, readDecisions, readLedgerStatus, readMigration } from '../../../store';
import type { ImportRig } from '../../support/company-import';
import { openImportRig } from '../../support/company-import';
import { createMovableMigration, manifestRows, release, updateRow } from '../../support/ledger';

let rig: ImportRig;
beforeAll(async () => {
  rig = await openImportRig();
});
beforeEach(() => rig.proxy.reset());
afterAll(() => rig.close());

const SAM = parseSigningKey(new Secret(createSigningKey('Sam')));
const CLEO = parseSigningKey(new Secret(createSigningKey('Cleo')));
const APPROVERS = [
  { role: 'support', by: 'Sam', publicKey: SAM.publicKey },
  { role: 'client', by: 'Cleo', publicKey: CLEO.publicKey },
] as const;
const AT = '2026-03-02T12:00:00.000Z';
const support = { role: 'support', by: 'Sam' };
const client = { role: 'client', by: 'Cleo' };
let sent = 0;

/** Returns a record of Temporal's history. It claims to be applied. */
function recordOf(id: string, message: DecisionMessage, fields: object, key: typeof SAM | null): DecisionRecord {
  sent += 1;
  const content = { decisionId: `d-${sent}`, signedAt: new Date(Date.now() + sent).toISOString(), ...fields };
  const parsed = parseDecision(message, content, () => '');
  if ('malformed' in parsed) throw new Error(parsed.malformed);
  const { decision } = parsed;
  const outcome = { decisionId: decision.decisionId, applied: true, text: 'done', at: AT };
  if (!key) return { decision, outcome };
  const signature = { publicKey: key.publicKey, value: key.sign(signedText(id, { message, content })) };
  return { decision, outcome, signed: { message, content, signature } };
}

function allApprovals(id: string, sam: typeof SAM | null, cleo: typeof SAM | null): readonly DecisionRecord[] {
  return [
    recordOf(id, 'approve', { step: 'supply-details', ...support }, sam),
    recordOf(id, 'proposeTime', { startAt: AT, ...client }, cleo),
    recordOf(id, 'approve', { step: 'schedule', ...client }, cleo),
    recordOf(id, 'approve', { step: 'schedule', ...support }, sam),
    recordOf(id, 'approve', { step: 'update-application', ...client }, cleo),
    recordOf(id, 'approve', { step: 'update-application', ...support }, sam),
    recordOf(id, 'approve', { step: 'migrate-first-company', ...support }, sam),
  ];
}

/** Returns a signed migration whose ledger has lost all decisions. */
async function signedMigration(): Promise<string> {
  const decisions = { ...DEFAULT_DECISION_RULES, approvers: APPROVERS };
  const { id } = await createMovableMigration(rig.ledger, manifestRows(2), { decisions });
  await release(rig.ledger.db, id, 'nothing');
  return id;
}

function reconcile(id: string, decisions: readonly DecisionRecord[], ledgerMark = 0) {
  const workflowRecords = {
    statusOf: async () => ({ workflow: 'running' as const, ledgerMark }),
    decisionsOf: async () => decisions,
  };
  return rig.runActivity(() => rig.worker({ workflowRecords }).reconcileLedger({ migrationId: id }));
}
const released = async (id: string) => (await readMigration(rig.ledger.db, id))?.released;

test('signed decisions are restored, and what they release', async () => {
  const id = await signedMigration();
  await updateRow(rig.ledger.db, id, 1, { state: 'moved' });
  const { decisions, refused } = await reconcile(id, allApprovals(id, SAM, CLEO));
  expect(decisions).toHaveLength(7);
  expect(refused).toEqual([]);
  expect(await released(id)).toBe('all');
  const again = await reconcile(id, []);
  expect(again.decisions).toEqual([]);
});

test.each<[string, (id: string) => readonly DecisionRecord[], RegExp]>([
  ['is not signed', (id) => allApprovals(id, null, null), /must be signed/],
  ['is signed with the key of somebody else', (id) => allApprovals(id, CLEO, SAM), /belongs to/],
  ['is signed for another migration', () => allApprovals('other', SAM, CLEO), /does not match/],
])('a history in which every decision %s releases nothing, and nothing of it is recorded', async (_, history, why) => {
  const id = await signedMigration();
  const { decisions, refused } = await reconcile(id, history(id));
  expect(decisions).toEqual([]);
  expect(refused).toHaveLength(7);
  for (const each of refused) expect(each.why).toMatch(why);
  expect(await released(id)).toBe('nothing');
  expect(await readDecisions(rig.ledger.db, id)).toEqual([]);
});

test('the first company is not approved if neither the ledger nor the service has a company', async () => {
  const id = await signedMigration();
  const { refused } = await reconcile(id, allApprovals(id, SAM, CLEO));
  expect(refused).toMatchObject([{ why: 'no first company has been moved and verified yet' }]);
  expect(await released(id)).toBe('first-company');
});

test('a signed decision from before one that the ledger has is not restored', async () => {
  const id = await signedMigration();
  const pause = recordOf(id, 'pause', { reason: 'a problem', ...support }, SAM);
  const resume = recordOf(id, 'resume', support, SAM);
  await rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded: [resume] }));
  const { refused } = await reconcile(id, [pause]);
  expect(refused).toMatchObject([{ kind: 'pause', why: expect.stringContaining('out of order') as string }]);
});

test('the ledger counts as current afterwards, also for a slice that knows of more claims', async () => {
  const id = await signedMigration();
  await checkLedgerMark(rig.ledger.db, id, 7);
  expect(await readLedgerStatus(rig.ledger.db, id)).toMatchObject({ behindSince: expect.any(Date) as Date });
  await reconcile(id, [], 7);
  expect(await checkLedgerMark(rig.ledger.db, id, 7 + 1_000)).toMatchObject({ behindSince: null });
});
