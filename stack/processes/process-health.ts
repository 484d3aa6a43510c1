import type { Check, HealthMonitor } from '../../observability/health-monitor';
import type { CheckState, CheckStates, Health } from '../../observability/health-server';

/**
 * The health of a process with one check. `live` checks nothing: a restart would help only if the event loop is stuck,
 * and then the process does not answer.
 */
export class ProcessHealth implements Health {
  private started: CheckState;

  constructor(
    private readonly name: string,
    private readonly monitor: HealthMonitor,
  ) {
    this.started = failing(`the ${name} is starting`);
  }

  live(): CheckStates {
    return {};
  }

  ready(): CheckStates {
    return { started: this.started, ...this.monitor.states() };
  }

  waiting(why: string): void {
    this.started = failing(why);
  }

  running(checkName: string, check: Check): void {
    this.started = { status: 'ok', since: new Date().toISOString() };
    this.monitor.add(checkName, check);
  }

  stopping(): void {
    this.started = failing(`the ${this.name} is stopping`);
    this.monitor.stop();
  }
}

const failing = (why: string): CheckState => ({ status: 'failing', why, since: new Date().toISOString() });
