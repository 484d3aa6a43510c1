/** Tests that `ferry up` checks its configuration before it starts anything. */
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryFolder } from '../../../stack/folders';
import { ferry } from '../captured-terminal';

test.each([
  ['TOKENFERRY_WEBHOOK_URL', 'nonsense'],
  ['TOKENFERRY_SERVICE_KEY', 'nonsense'],
])('an invalid %s is reported without referring to the logs', async (variable, value) => {
  const home = createTemporaryFolder();
  try {
    const { exitCode, err } = await ferry(['up'], undefined, { TOKENFERRY_HOME: home, [variable]: value });
    expect(exitCode).toBe(1);
    expect(err).toContain(variable);
    expect(err).not.toContain('see the logs');
    expect(existsSync(path.join(home, 'logs'))).toBe(false);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
