/** Tests which activities have a step in their log lines and spans. */
import type { Info } from '@temporalio/activity';
import { traceActivities } from '../../worker/traces';

/** Returns what is added to the SDK's log lines of an activity. */
function logAttributes(activityType: string): Record<string, unknown> {
  const { outbound } = traceActivities({ info: { activityType } as Info } as never);
  return outbound?.getLogAttributes?.({}, (attributes) => attributes) ?? {};
}

test('log lines of an activity that runs only in one step name the step', () => {
  expect(logAttributes('importSlice')).toEqual({ step: 'complete-migration' });
});

test('log lines of the preflight name no step, because it also runs when details change in later steps', () => {
  expect(logAttributes('preflight')).toEqual({});
});
