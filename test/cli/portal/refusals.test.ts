/** Tests what `ferry --portal` says about a decision that the portal does not offer. */
import { assertStep, notOffered, OF_SUPPORT } from '../../../cli/portal/refusals';
import type { PortalContext } from '../../../cli/portal/context';
import type { MigrationView } from '../../../portal/contract/migration-view';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { sampleView } from '../../portal/page/sample-view';
import { ferry } from '../captured-terminal';

const context = {
  target: { link: 'https://portal.example', isOption: true, args: [] },
  link: () => ({ origin: 'https://portal.example' }),
  terminal: { env: { TOKENFERRY_HOME: '/nowhere' } },
} as unknown as PortalContext;
const SHOW = 'see what you can decide with: ferry --portal https://portal.example show';

function refused(message: DecisionMessage, step: string | undefined, changes: Partial<MigrationView> = {}) {
  const { message: text, advice } = notOffered(
    context,
    { message, step },
    sampleView({ route: 'managed', ...changes }),
  );
  return `${text}; ${advice}`;
}

test.each([
  ['approve', 'migrate-first-company', 'only support can approve step 5 (migrate the first company)'],
  ['approve', 'supply-details', 'only support can approve step 1 (supply details)'],
  ['reject', 'migrate-first-company', 'only support can reject step 5 (migrate the first company)'],
  ['retry', undefined, 'in a managed migration, only support can use "retry"'],
] as const)('%s %s is a decision of support', (message, step, says) => {
  expect(refused(message, step)).toBe(`${says}; nothing was sent; ask support to make this decision, or ${SHOW}`);
});

test('a decision that the portal never offers is not said to have ended with the migration', () => {
  expect(refused('retry', undefined, { state: 'completed' })).toMatch(/^in a managed migration, only support can use/);
  expect(refused('pause', undefined, { state: 'completed' })).toMatch(
    /^the portal no longer offers "pause", because .* completed/,
  );
  expect(refused('pause', undefined, { state: 'terminated' })).toMatch(/, because the migration was stopped/);
});

test('the help of a command says if only support makes its decision in a managed migration', async () => {
  for (const command of [...OF_SUPPORT, 'exclude', 'confirm-sync-disabled']) {
    const { out } = await ferry(['--portal', 'https://portal.example', command, '--help']);
    const isOfSupport = out.replace(/\s+/g, ' ').includes('. In a managed migration, only support does this');
    expect([command, isOfSupport]).toEqual([command, OF_SUPPORT.some((message) => message === command)]);
  }
});

test('step 4 ends with confirmations, so it needs no approval', () => {
  expect(refused('approve', 'disable-syncing')).toBe(
    `step 4 (disable data syncing) needs no approval, because it ends once you have confirmed that syncing is off; nothing was sent; ${SHOW}`,
  );
});

test('a decision that the client can make in another step is not offered now', () => {
  expect(refused('approve', 'complete-migration')).toMatch(/^the portal does not offer "sign-off" now, in step \d \(/);
  expect(refused('reject', 'schedule')).toMatch(/^the portal does not offer "reject schedule" now, in step \d \(/);
});

test('another application needs a rejection of step 1 once support has accepted the details, or the help of support', () => {
  const { actions } = sampleView();
  const rejection = { ...actions[0]!, message: 'reject', step: 'supply-details', reason: 'required' } as const;
  const says = 'the portal does not offer "application" now, in step 4 (disable data syncing); nothing was sent';
  expect(refused('applicationSupplied', undefined, { actions: [rejection] })).toBe(
    `${says}; support has accepted the details. To change the application, first reject step 1 with: ferry --portal https://portal.example reject supply-details --reason "why"`,
  );
  // Once the move of the first company has begun, step 1 cannot be rejected.
  expect(refused('applicationSupplied', undefined, { actions: [] })).toBe(
    `${says}; ask support to register the application, or ${SHOW}`,
  );
});

test.each([
  ['approve', 'schedule', 'approve schedule'],
  ['proposeTime', undefined, 'propose-time'],
  ['confirmSyncDisabled', undefined, 'confirm-sync-disabled'],
] as const)('a self-service migration does not need %s', (message, step, name) => {
  expect(refused(message, step, { route: 'self-service', steps: [] })).toBe(
    `a self-service migration does not need "${name}"; nothing was sent; ${SHOW}`,
  );
});

test('a client of a self-service migration asks the contact for a change that the portal does not offer', () => {
  expect(refused('manifestSupplied', undefined, { route: 'self-service', steps: [] })).toBe(
    `the portal does not offer "manifest" now; nothing was sent; ask your contact to amend the manifest, or ${SHOW}`,
  );
});

test('a decision that has already been made is refused with this reason', () => {
  const view = sampleView({ route: 'managed' });
  const approvedByClient = (step: string): Partial<MigrationView> => ({
    steps: view.steps.map((each) =>
      each.step === step
        ? { ...each, approvals: [{ by: 'Cleo', role: 'client', at: '2026-11-13T08:00:00.000Z' }] }
        : each,
    ),
  });
  const rest = `; nothing was sent; ${SHOW}`;
  expect(refused('approve', 'schedule', approvedByClient('schedule'))).toBe(
    `step 2 (schedule the migration) has already been approved by the client (Cleo)${rest}`,
  );
  expect(refused('approve', 'complete-migration', approvedByClient('complete-migration'))).toBe(
    `the client (Cleo) has already signed off the handover${rest}`,
  );
  expect(refused('approve', 'schedule')).toBe(`step 2 (schedule the migration) has already ended${rest}`);
  const counts = { ...view.counts, total: 60, unconfirmed: 0 };
  const afterStep4 = {
    steps: view.steps.map((each) => (each.step === 'disable-syncing' ? { ...each, state: 'done' as const } : each)),
  };
  expect(refused('confirmSyncDisabled', undefined, { counts, ...afterStep4 })).toBe(
    `no company is waiting for this confirmation: all companies that can move are already confirmed${rest}`,
  );
  // Before step 4 has ended, the companies that are held back could be all that are not confirmed.
  expect(refused('confirmSyncDisabled', undefined, { counts })).toMatch(
    /^the portal does not offer "confirm-sync-disabled" now/,
  );
  expect(refused('pause', undefined, { state: 'paused' })).toBe(`the client has already paused the migration${rest}`);
  expect(refused('resume', undefined, { state: 'running' })).toBe(`the migration is not paused${rest}`);
  expect(refused('resume', undefined, { state: 'paused' })).toBe(
    `only support can resume a migration that paused itself${rest}`,
  );
});

test('a step that does not exist is refused with the names of the steps', () => {
  expect(() => assertStep('shedule')).toThrow('there is no step shedule');
  expect(() => assertStep('schedule')).not.toThrow();
  expect(() => assertStep(undefined)).not.toThrow();
});
