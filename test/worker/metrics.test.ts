/** Tests the metrics of a worker, and that docs/monitoring.md describes every metric of `METRICS`. */
import { openMonitoringDatabase } from '../../store';
import { LedgerMetrics } from '../../worker/metrics/ledger-metrics';
import { METRICS } from '../../worker/metrics/definitions';
import { WorkerMetrics } from '../../worker/metrics/worker-metrics';
import { readDocument } from '../cli/documented-commands';
import { until } from '../support/async';
import { startJsonProcess, type JsonProcess } from '../support/servers/json-process';
import { startOrchestrator, type OpenedOrchestrator } from '../support/servers/orchestrator';
import { startTestMigration } from '../workflows/running-migration';

let orchestrator: OpenedOrchestrator;
let worker: JsonProcess | undefined;
beforeAll(async () => {
  orchestrator = await startOrchestrator();
});
afterAll(async () => {
  await worker?.end('SIGKILL');
  await orchestrator.close();
});

/** Returns the value of a sample, which is given as its name and labels; undefined if the text lacks it. */
function valueOf(text: string, sample: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length + 1));
}

test('a scrape shows a migration while its companies are being moved, and afterwards', async () => {
  worker = startJsonProcess(['worker/main.js'], {
    ...orchestrator.env,
    TOKENFERRY_HEALTH_ADDRESS: '127.0.0.1:0',
    TOKENFERRY_METRICS_MIGRATIONS: '5',
  });
  const { url } = await worker.untilLogged('health checks and metrics are served');
  const scrape = async (): Promise<string> => {
    const response = await fetch(`${String(url)}/metrics`);
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    return response.text();
  };

  const migration = await startTestMigration(orchestrator, 'measured', ['sbx-ok-1.me1', 'sbx-ok-1.me2']);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  let text = '';
  await until(async () => {
    text = await scrape();
    return valueOf(text, 'tokenferry_companies{state="moved"}') === 1;
  });
  expect(valueOf(text, `tokenferry_migration_companies{migration="${migration.id}",state="waiting"}`)).toBe(1);
  expect(valueOf(text, 'tokenferry_migrations{status="running"}')).toBe(1);
  expect(valueOf(text, 'tokenferry_waiting_migrations{role="support"}')).toBe(1);
  expect(valueOf(text, 'tokenferry_oldest_wait_seconds{role="support"}')).toBeGreaterThan(0);
  expect(valueOf(text, 'tokenferry_oldest_credential_age_seconds')).toBeGreaterThan(0);
  expect(valueOf(text, 'tokenferry_decisions_total{result="applied"}')).toBeGreaterThan(3);
  expect(valueOf(text, 'tokenferry_service_answers_total{call="authorize",answer="ok"}')).toBe(1);
  expect(text).toMatch(/^tokenferry_ledger_pool_connections\{state="(?:used|idle)"\} [1-9]/m);
  expect(text).toMatch(/^temporal_request_total\{.*operation="RespondWorkflowTaskCompleted".*\} [1-9]/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);

  // Samples whose names begin with tokenferry_ belong to a metric of `METRICS`, and have only its labels and `le`.
  const ours = text.split('\n').filter((line) => line.startsWith('tokenferry_'));
  for (const line of ours) {
    const [, sample = '', labels = ''] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? [];
    const definition = METRICS[sample] ?? METRICS[sample.replace(/_(?:bucket|sum|count)$/, '')];
    expect({ sample, isDocumented: definition !== undefined }).toEqual({ sample, isDocumented: true });
    const names = [...labels.matchAll(/(\w+)="/g)].map(([, name = '']) => name).filter((name) => name !== 'le');
    expect({ sample, unknown: names.filter((name) => !definition?.labels.includes(name)) }).toEqual({
      sample,
      unknown: [],
    });
  }
});

test('one worker at a time reports the ledger, and another takes over when it ends', async () => {
  const url = orchestrator.config.databaseUrl.reveal();
  await worker?.end('SIGKILL');
  const [first, second] = [openMonitoringDatabase(url), openMonitoringDatabase(url)];
  const metricsOf = (db: typeof first): LedgerMetrics =>
    new LedgerMetrics({ db, maxMigrations: 0, readWaits: async () => null });
  await until(async () => (await metricsOf(first).text()) !== '');
  expect(await metricsOf(second).text()).toBe('');
  await first.destroy();
  await until(async () => (await metricsOf(second).text()) !== '');
  const text = await metricsOf(second).text();
  expect(text).toContain('tokenferry_companies{state="moved"}');
  // No label names a migration, because `maxMigrations` is 0, the default.
  expect(text).not.toContain('measured');
  await second.destroy();
});

test('the answers of a proxy cannot add label values', async () => {
  const metrics = new WorkerMetrics();
  for (let status = 200; status < 600; status += 1)
    metrics.onAnswer({ isAuthorization: false, outcome: status, durationMs: 1 });
  metrics.onAnswer({ isAuthorization: true, outcome: 'time-out' });
  const text = await metrics.registry.metrics();
  const answers = [...text.matchAll(/^tokenferry_service_answers_total\{call="\w+",answer="([\w-]+)"\}/gm)];
  expect(answers).toHaveLength(18);
  expect(text).toContain('tokenferry_service_answers_total{call="authorize",answer="time-out"} 1');
});

test('docs/monitoring.md has the type, unit and labels of every metric', () => {
  const document = readDocument('monitoring.md');
  const rows = document.split('\n').flatMap((line) => {
    const [, name, type, unit, labels = ''] = line.split('|').map((cell) => cell.trim());
    return name?.startsWith('`tokenferry_') ? [{ name, type, unit, labels }] : [];
  });
  const expected = Object.entries(METRICS).map(([name, { type, unit, labels }]) => ({
    ...{ name: `\`${name}\``, type, unit },
    labels: labels.map((label) => `\`${label}\``).join(', '),
  }));
  expect(rows).toEqual(expected);
});
