import { stripVTControlCharacters } from 'node:util';
import { printMigration, type MigrationFindings } from '../../../cli/reporting/migration-summary';
import { Output } from '../../../cli/terminal/output';
import type { Progress } from '../../../domain/progress/progress';
import { AT } from '../../support/migrations/migration-states';
import { capturedStream } from '../captured-terminal';

const NO_FINDINGS: MigrationFindings = {
  ...{
    interrupted: null,
    limits: null,
    live: null,
    deferred: null,
    isBatchRunning: false,
    ledgerBehind: false,
    notInLedger: false,
  },
  ...{ clientPage: null, applications: null, keyFingerprint: null, chosenFirst: null, confirmedBy: null },
  changedSinceSignOff: null,
  ...{ windowsPaused: null, retriedErrors: [], retryTexts: [], next: [], keysToConfirm: [] },
};

/** Returns what `ferry show` prints about a migration, without styles. */
export function shownMigration(
  progress: Progress,
  findings: Partial<MigrationFindings> = {},
  { columns = 400, inFull = false, now = new Date(AT) } = {},
): string {
  const stdout = capturedStream(columns);
  const output = new Output({ stdout, stderr: stdout }, false);
  printMigration(output, progress, { ...NO_FINDINGS, ...findings }, { inFull, now });
  return stripVTControlCharacters(stdout.text);
}
