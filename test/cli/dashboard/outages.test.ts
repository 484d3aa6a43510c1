/** Tests that the dashboard soon says which server is down. No worker is running. */
import { useOrchestrator } from '../../support/servers/orchestrator';
import { startTestMigration } from '../../workflows/running-migration';
import { startRelay } from '../terminal/tcp-relay';
import { startTerminalSession, type TerminalSession } from '../terminal/pseudo-terminal';

const orchestrator = useOrchestrator();
let session: TerminalSession | undefined;
afterEach(() => session?.close());

test('the screen names Temporal within seconds if Temporal stops after the workers', async () => {
  await startTestMigration(orchestrator, 'stopped-stack', ['sbx-ok-1.ss1']);
  const relay = await startRelay(orchestrator.config.temporal.address);
  const env = { ...orchestrator.env, TEMPORAL_ADDRESS: relay.address };
  const screen = (session = startTerminalSession(['desk', '--by', 'Sam'], env));
  await screen.waitFor('no worker answers; retrying automatically');
  await relay.cut();
  const cutAt = Date.now();
  await screen.waitFor('cannot read from Temporal; retrying automatically');
  expect(Date.now() - cutAt).toBeLessThan(14_000);
}, 60_000);
