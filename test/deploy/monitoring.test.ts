/** Checks that alerts and dashboards name only documented metrics, and that every alert is tested and explained. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(__dirname, '../..');
const prometheus = path.join(root, 'deploy/prometheus');
const dashboards = path.join(root, 'deploy/grafana/dashboards');
const read = (...parts: readonly string[]): string => readFileSync(path.join(...parts), 'utf8');

const alerts = read(prometheus, 'alerts.yml');
const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
const documented = read(root, 'docs/monitoring.md');

const sources: readonly (readonly [string, string])[] = [
  ['alerts.yml', alerts],
  ...readdirSync(dashboards).map((file) => [file, read(dashboards, file)] as const),
];

test.each(sources)('%s names only metrics that docs/monitoring.md lists', (_, text) => {
  const metrics = new Set(text.match(/\b(?:tokenferry|temporal|process|nodejs)_[a-z0-9_]+/g));
  expect(metrics.size).toBeGreaterThan(0);
  const unknown = [...metrics].filter((metric) => !documented.includes(`\`${metric.replace(/_bucket$/, '')}\``));
  expect(unknown).toEqual([]);
});

test('every alert is explained in the runbook and has a test that makes it fire', () => {
  expect(names.length).toBeGreaterThan(10);
  const [, explained = ''] = read(root, 'docs/runbook.md').split('\n## Alerts\n');
  const tests = read(prometheus, 'alerts.test.yml');
  for (const name of names) {
    expect(explained).toContain(`\`${name}\``);
    expect(tests).toMatch(new RegExp(`alertname: ${name}\\n\\s+exp_alerts:`));
  }
});

test.each(readdirSync(dashboards))('the dashboard %s has panels with queries, which do not overlap', (file) => {
  const { panels } = JSON.parse(read(dashboards, file)) as { panels: readonly Panel[] };
  expect(panels.length).toBeGreaterThan(2);
  const taken = new Set<string>();
  for (const { gridPos, targets } of panels) {
    expect(targets.length).toBeGreaterThan(0);
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(taken).not.toContain(`${x},${y}`);
        taken.add(`${x},${y}`);
      }
    }
  }
});

interface Panel {
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  readonly targets: readonly { readonly expr: string }[];
}

/** Promtool is not part of the project, so the test that uses it runs only where it is installed. */
const hasPromtool = (() => {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

(hasPromtool ? test : test.skip)('promtool makes every alert fire (needs promtool)', () => {
  const options = { cwd: prometheus, encoding: 'utf8' } as const;
  expect(execFileSync('promtool', ['check', 'rules', 'alerts.yml'], options)).toContain(`${names.length} rules found`);
  expect(execFileSync('promtool', ['test', 'rules', 'alerts.test.yml'], options)).toContain('SUCCESS');
});
