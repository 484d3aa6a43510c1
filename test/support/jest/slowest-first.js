/**
 * Runs the slowest test files first, so that a run does not end with one long file while the other workers are idle.
 * Jest knows the durations of earlier runs. A clean checkout has none, so the slowest files are listed here.
 */
const { default: Sequencer } = require('@jest/test-sequencer');

const SLOWEST = [
  'workflows/workers/killed-workers',
  'activities/companies/killed-at-every-point',
  'presentation/temporal-ui/temporal-ui',
  'workflows/batch/late-supply',
  'workflows/batch/scheduled-windows',
  'workflows/replay',
  'cli/supply/self-service',
  'security/secrets-never-leak',
  'workflows/workers/second-worker',
  'cli/dashboard/dashboard',
  'workflows/batch/windows',
  'cli/connections/outages',
  'workflows/batch/outage',
  'workflows/migration/contradictory-messages',
  'company-data-client/rate-limiter',
  'postgres/pool',
  'scripts/demo',
  'cli/manifest/read-manifest',
  'cli/manifest/streaming',
  'store/vault/streaming',
  'workflows/migration/outside-changes',
];

const rank = ({ path }) => SLOWEST.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));

module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const listed = sorted.filter((test) => this.time(test) === undefined && rank(test) !== -1);
    const rest = sorted.filter((test) => !listed.includes(test));
    return [...listed.sort((one, other) => rank(one) - rank(other)), ...rest];
  }
};
