/** What workflows ask for: everything that touches the ledger, the vault or the Company Data Service. */
import { batchActivities } from './batch';
import { courseActivities } from './course';
import type { ActivityDeps } from './deps';
import { endingActivities } from './ending';
import { estimateActivities } from './estimates';
import { firstCompanyActivities } from './first-company';
import { sweepActivities } from './left-behind';
import { noticeActivities } from './notices';
import { preflightActivities } from './preflight';
import { relinkActivities } from './relink';
import { withTypedFailures } from './typed-failures';
import { windowActivities } from './windows';

export function createActivities(deps: ActivityDeps) {
  return withTypedFailures({
    ...courseActivities(deps),
    ...preflightActivities(deps),
    ...firstCompanyActivities(deps),
    ...batchActivities(deps),
    ...endingActivities(deps),
    ...estimateActivities(deps),
    ...noticeActivities(deps),
    ...relinkActivities(deps),
    ...sweepActivities(deps),
    ...windowActivities(deps),
  });
}

export type Activities = ReturnType<typeof createActivities>;

export { createNoticeBoard } from './notices';
export { createWhereabouts } from './whereabouts';
export { createWindowSchedules } from './window-schedules';
