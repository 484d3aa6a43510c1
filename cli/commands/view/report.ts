import { readReport, type LedgerClient } from '../../../client';
import type { AlreadyWritten } from '../../terminal/output';
import type { Context } from '../../shared/context';
import { choiceOption } from '../../options/options';
import { type ReportFormat, reportPieces } from '../../../client/report-formats';
import { ledgersBehindTexts } from '../../shared/results';
import { withLedgerClient } from '../../connections/clients';

/**
 * Repeats `REPORT_FORMATS`. Modules that `cli/` imports are loaded at their first use (scripts/build.mjs), so reading
 * the formats here would load client/report-formats.ts for every command, even for its help.
 */
const FORMATS = ['md', 'json', 'csv', 'html'] as const satisfies readonly ReportFormat[];

/** `ferry report`: prints the handover report at any time, even after the migration has ended. */
export function addReport({ program, run, output, terminal }: Context): void {
  program
    .command('report <migration>')
    .description('Print the handover report: what was moved, what was not and why, and who decided what')
    .addOption(
      choiceOption(
        '--format <format>',
        'format of the report: md, html (a page to send), csv (one row per company) or json',
        FORMATS,
      ).default('md'),
    )
    .action((migration: string, { format }: { format: ReportFormat }) =>
      run(() => withLedgerClient(terminal.env, (ferry) => report({ output, terminal }, ferry, migration, format))),
    );
}

/** Streams the report, because it can have any number of companies. */
async function report(
  { output, terminal: { stderr } }: Pick<Context, 'output' | 'terminal'>,
  ferry: LedgerClient,
  migrationId: string,
  format: ReportFormat,
): Promise<AlreadyWritten> {
  const report = await readReport(ferry, migrationId);
  // Writes to standard error, because standard output can be the file that support sends to the client.
  if (report.head.ledgerBehind && !output.json && !output.quiet)
    stderr.write(`${ledgersBehindTexts([migrationId]).join('\n')}\n`);
  for await (const piece of reportPieces(report, output.json ? 'json' : format)) await output.stream(piece);
  return { written: true };
}
