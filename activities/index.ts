/** The activities. Workflows use them to reach everything outside their sandbox, such as the ledger or the service. */
import { batchActivities } from './companies/batch';
import { lifecycleActivities } from './migration/lifecycle';
import type { ActivityDeps } from './deps';
import { closingActivities } from './migration/closing';
import { decisionActivities } from './migration/decisions';
import { estimateActivities } from './migration/estimates';
import { firstCompanyActivities } from './companies/first-company';
import { sweepActivities } from './migration/sweep';
import { noticeActivities } from './migration/notices';
import { preflightActivities } from './migration/preflight';
import { reconciliationActivities } from './migration/reconciliation';
import { relinkActivities } from './companies/relink';
import { withTypedFailures } from './typed-failures';
import { windowActivities } from './migration/windows';

export function createActivities(deps: ActivityDeps) {
  return withTypedFailures({
    ...lifecycleActivities(deps),
    ...decisionActivities(deps),
    ...preflightActivities(deps),
    ...reconciliationActivities(deps),
    ...firstCompanyActivities(deps),
    ...batchActivities(deps),
    ...closingActivities(deps),
    ...estimateActivities(deps),
    ...noticeActivities(deps),
    ...relinkActivities(deps),
    ...sweepActivities(deps),
    ...windowActivities(deps),
  });
}

export type Activities = ReturnType<typeof createActivities>;

export { createNotifier } from './migration/notices';
export { createWorkflowStatus } from './migration/workflow-status';
export { createWorkflowRecords } from './migration/workflow-records';
export { createWindowSchedules } from './migration/schedules';
