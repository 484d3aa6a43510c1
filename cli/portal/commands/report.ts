import { retryWhileTemporary } from '../../../portal/client/api';
import { CommandFailed } from '../../shared/errors';
import { choiceOption } from '../../options/options';
import type { AlreadyWritten } from '../../terminal/output';
import { clause } from '../api-errors';
import { withPortal, type Connection } from '../connection';
import type { PortalContext } from '../context';

/** The formats of `ferry report`, with the names that the portal gives them. */
const FORMATS = { md: 'markdown', html: 'html', csv: 'csv', json: 'json' } as const;
type Format = keyof typeof FORMATS;

/** `ferry --portal <link> report` */
export function addReport(context: PortalContext): void {
  const { program, run, output } = context;
  program
    .command('report <migration>')
    .description('Print the handover report: what was moved, what was not and why, and who decided what')
    .addOption(
      choiceOption(
        '--format <format>',
        'format of the report: md, html, csv (one row per company) or json',
        Object.keys(FORMATS),
      ).default('md'),
    )
    .action((migrationId: string, { format }: { readonly format: Format }) =>
      run(() =>
        withPortal(context, migrationId, async (portal): Promise<AlreadyWritten> => {
          await output.stream((await readReport(portal, output.json ? 'json' : format)).trimEnd());
          return { written: true };
        }),
      ),
    );
}

async function readReport({ api, say }: Connection, format: Format): Promise<string> {
  const { id, outcome, text } = await api.submit('/api/reports', { format: FORMATS[format] }, say);
  if (outcome !== 'done') throw new CommandFailed(clause(text), 'for help, ask your contact');
  const report = await retryWhileTemporary(() => api.readReport(id, FORMATS[format]), say);
  // Decoding the answer has removed the byte order mark, without which Excel does not read the file as UTF-8.
  return format === 'csv' ? `\uFEFF${report}` : report;
}
