/** Tests the result of `ferry self-service` if the ledger falls behind while the command watches the migration. */
import { selfServiceResult } from '../../../cli/starting/self-service-result';
import { progressOf } from '../../../domain/progress/progress';
import { FindingList } from '../../../cli/manifest';
import { migrationPlan, stateAt } from '../../support/migrations/migration-states';

const ID = 'acme.wave';
const progress = progressOf(migrationPlan({ migrationId: ID, route: 'self-service' }), stateAt('complete-migration'));
const check = { findings: new FindingList(), manifest: { totals: { companies: 1 }, withCredential: 0 } };
const started = {
  ...{ migrationId: ID, stored: 0, staged: 0, decision: null, preflight: null, retriedErrors: [] },
  ...{ by: 'Cleo', clientPage: null, refusedSince: null },
};

const jsonOf = (ledgerBehind: boolean) =>
  selfServiceResult(check as unknown as Parameters<typeof selfServiceResult>[0], started, {
    progress,
    ledgerBehind,
    keysToConfirm: [],
    print: () => undefined,
  }).json;

test('support must reconcile the ledger, as in show and watch, whoever the workflow waits for', () => {
  const command = `ferry reconcile ${ID}`;
  expect(jsonOf(false)).toMatchObject({ waitingFor: progress.waitingFor });
  expect(jsonOf(true)).toMatchObject({
    waitingFor: {
      roles: ['support'],
      what: `the ledger is out of date, so no company can move; to repair it, run: ${command}`,
    },
    next: [{ who: 'support', command }],
  });
});
