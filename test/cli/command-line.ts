import { copyFileSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { Orchestrator } from '../support/servers/orchestrator';
import { ferry } from './captured-terminal';

export const EXAMPLE = path.join(__dirname, '../../examples/quickbooks-online-25');
export const MANIFEST = path.join(EXAMPLE, 'manifest.csv');

/** Runs a command with `--json` and returns its exit code and output. */
export async function runJson(
  orchestrator: Orchestrator,
  ...args: string[]
): Promise<{ exitCode: number; json: Record<string, unknown> }> {
  const { exitCode, out } = await ferry([...args, '--json'], undefined, orchestrator.env);
  return { exitCode, json: JSON.parse(out) as Record<string, unknown> };
}

/**
 * Copies the example's credential file. The copy has the current modification time, as after an export by the client.
 * `remove` deletes the copy.
 */
export function exportedCredentials(): { file: string; remove: () => void } {
  const folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  const file = path.join(folder, 'credentials.csv');
  copyFileSync(path.join(EXAMPLE, 'credentials.csv'), file);
  utimesSync(file, new Date(), new Date());
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
