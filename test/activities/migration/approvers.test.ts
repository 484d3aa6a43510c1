/** The ledger verifies decisions with the approvers that the ledger has recorded, even if a workflow claims others. */
import type { DecisionRecord } from '../../../domain/migration/migration-state';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { readMigration, readRecordedDecisions } from '../../../store';
import { useImportRig } from '../../support/migrations/company-import';
import { createMovableMigration, manifestRows } from '../../support/migrations/ledger';
import { BY_CLEO, BY_SAM, CLEO, recordOf, SAM } from '../../support/migrations/signed-decisions';

const rig = useImportRig();

const OF_CLEO = { ...BY_CLEO, publicKey: CLEO.publicKey };
const ADD = { approver: OF_CLEO, ...BY_SAM };
const MUST_SIGN = /must be signed by an approver/;

async function migration(approvers: typeof DEFAULT_DECISION_RULES.approvers = null): Promise<string> {
  const decisions = { ...DEFAULT_DECISION_RULES, approvers };
  return (await createMovableMigration(rig.ledger, manifestRows(1), { decisions })).id;
}

/** Returns `applied` for each record, or the reason why the ledger refused it. */
async function record(id: string, ...recorded: readonly DecisionRecord[]): Promise<readonly string[]> {
  const { outcomes } = await rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded }));
  return outcomes.map(({ applied, text }) => (applied ? 'applied' : text));
}

const readChanges = async (id: string) => (await readRecordedDecisions(rig.ledger.db, id)).approverChanges;

test('once a key has been confirmed, the client must sign, even if its workflow claims otherwise', async () => {
  const id = await migration();
  expect(await record(id, recordOf(id, 'pause', BY_CLEO, null), recordOf(id, 'resume', BY_SAM, null))).toEqual([
    'applied',
    'applied',
  ]);
  expect(await record(id, recordOf(id, 'addApprover', ADD, null))).toEqual(['applied']);
  expect(await readChanges(id)).toMatchObject([{ kind: 'add-approver', approver: OF_CLEO, by: 'Sam' }]);
  expect(
    await record(
      id,
      recordOf(id, 'pause', BY_CLEO, null),
      recordOf(id, 'pause', BY_CLEO, SAM),
      recordOf(id, 'addApprover', { approver: { ...OF_CLEO, by: 'Eve' }, ...BY_SAM }, null),
    ),
  ).toEqual([
    expect.stringMatching(MUST_SIGN),
    expect.stringMatching(/does not belong to an approver/),
    'this key belongs to Cleo (client); use this name and role, or another key',
  ]);
  expect((await readMigration(rig.ledger.db, id))?.paused).toBe(false);
  expect(await record(id, recordOf(id, 'pause', BY_CLEO, CLEO))).toEqual(['applied']);
  expect((await readMigration(rig.ledger.db, id))?.paused).toBe(true);
});

test('a forged addition or removal of an approver is refused, and changes nothing', async () => {
  const id = await migration([{ ...BY_SAM, publicKey: SAM.publicKey }, OF_CLEO]);
  const dana = { ...OF_CLEO, by: 'Dana', publicKey: SAM.publicKey };
  expect(
    await record(
      id,
      recordOf(id, 'addApprover', ADD, null),
      recordOf(id, 'addApprover', ADD, CLEO),
      recordOf(id, 'addApprover', { ...ADD, ...BY_CLEO }, CLEO),
      recordOf(id, 'addApprover', { approver: dana, ...BY_SAM }, SAM),
      recordOf(id, 'removeApprover', ADD, SAM),
    ),
  ).toEqual([
    expect.stringMatching(MUST_SIGN),
    expect.stringMatching(/signed with the key of "Cleo"/),
    'only support can add or remove approvers',
    'this key belongs to Sam (support); use this name and role, or another key',
    expect.stringMatching(/last key of an approver for the client/),
  ]);
  expect(await readChanges(id)).toEqual([]);
  // An addition that was signed for one migration is not accepted for another.
  const other = await migration([{ ...BY_SAM, publicKey: SAM.publicKey }]);
  expect(await record(other, recordOf(id, 'addApprover', ADD, SAM))).toEqual([
    expect.stringMatching(/signature does not match/),
  ]);
});

test('a forged signature with a late time does not prevent later decisions by the owner of the key', async () => {
  const id = await migration();
  const forged = recordOf(id, 'pause', { ...BY_CLEO, signedAt: '2099-01-01T00:00:00.000Z' }, CLEO);
  const { signed } = forged;
  if (!signed) throw new Error('not signed');
  const broken = { ...forged, signed: { ...signed, signature: { ...signed.signature, value: 'ab'.repeat(64) } } };
  // The signature is valid, but belongs to another decision.
  const other = recordOf(id, 'resume', BY_CLEO, null);
  const moved = {
    ...other,
    signed: recordOf(id, 'pause', { ...BY_CLEO, signedAt: '2098-01-01T00:00:00.000Z' }, CLEO).signed,
  };
  await record(id, broken, moved as DecisionRecord);
  expect(await record(id, recordOf(id, 'addApprover', ADD, null), recordOf(id, 'pause', BY_CLEO, CLEO))).toEqual([
    'applied',
    'applied',
  ]);
});

test('a signature is recorded even before its key is confirmed, so that it can be verified later', async () => {
  const id = await migration();
  await record(id, recordOf(id, 'pause', BY_CLEO, CLEO));
  const recorded = rig.ledger.db.selectFrom('decisions').select('signed').where('migration_id', '=', id);
  expect(await recorded.execute()).toMatchObject([{ signed: { signature: { publicKey: CLEO.publicKey } } }]);
});
