/** Tests when a worker reports its pollers as stuck, and its workflow tasks as failing. */
import { TaskWatch, type TaskCounters } from '../../worker/health';

const MINUTE_MS = 60_000;
const counters = (changes: Partial<TaskCounters> = {}): TaskCounters => ({
  ...{ polls: 20, completedWorkflowTasks: 0, failedWorkflowTasks: 0 },
  ...changes,
});

describe('the pollers', () => {
  it('are reported as stuck three minutes after the last poll has ended, until the next poll ends', () => {
    const watch = new TaskWatch(0);
    watch.observe(counters({ polls: 21 }), true, MINUTE_MS);
    watch.observe(counters({ polls: 22 }), true, 2 * MINUTE_MS);
    watch.observe(counters({ polls: 22 }), true, 5 * MINUTE_MS - 1);
    expect(watch.pollersStuck(5 * MINUTE_MS - 1)).toBeNull();
    expect(watch.pollersStuck(5 * MINUTE_MS)).toContain('has not answered a poll for 180 s');
    watch.observe(counters({ polls: 23 }), true, 6 * MINUTE_MS);
    expect(watch.pollersStuck(6 * MINUTE_MS)).toBeNull();
  });

  it('are not reported as stuck during an outage of Temporal, or soon after it', () => {
    const watch = new TaskWatch(0);
    for (let minute = 1; minute <= 60; minute += 1) watch.observe(counters(), false, minute * MINUTE_MS);
    watch.observe(counters(), true, 61 * MINUTE_MS);
    expect(watch.pollersStuck(61 * MINUTE_MS)).toBeNull();
  });
});

describe('the workflow tasks', () => {
  it('are reported as failing after three failures in a row, until a task is completed', () => {
    const watch = new TaskWatch(0);
    watch.observe(counters({ failedWorkflowTasks: 2 }), true, 1);
    expect(watch.tasksFail(1)).toBeNull();
    watch.observe(counters({ failedWorkflowTasks: 3 }), true, 2);
    expect(watch.tasksFail(2)).toContain('the last 3 workflow tasks failed');
    watch.observe(counters({ failedWorkflowTasks: 4, completedWorkflowTasks: 1 }), true, 3);
    expect(watch.tasksFail(3)).toBeNull();
  });

  it('are not reported as failing if other tasks are completed between the failures', () => {
    const watch = new TaskWatch(0);
    for (let task = 1; task <= 10; task += 1)
      watch.observe(counters({ failedWorkflowTasks: task, completedWorkflowTasks: task }), true, task);
    expect(watch.tasksFail(10)).toBeNull();
  });

  it('are no longer reported as failing if no task has failed for 15 minutes', () => {
    const watch = new TaskWatch(0);
    watch.observe(counters({ failedWorkflowTasks: 3 }), true, 0);
    expect(watch.tasksFail(15 * MINUTE_MS)).not.toBeNull();
    expect(watch.tasksFail(15 * MINUTE_MS + 1)).toBeNull();
  });
});
