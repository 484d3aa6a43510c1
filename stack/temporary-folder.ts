import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * A new folder for one run. Others may pass through it, because Postgres may have to run as another user,
 * but not list it; what is secret in it has a mode of its own.
 */
export function createTemporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-'));
  chmodSync(folder, 0o711);
  return folder;
}
