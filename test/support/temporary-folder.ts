import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Creates a folder, and removes it after all tests of the file or the `describe` block that calls this function. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
