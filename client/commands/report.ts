import type { ReportedCompany, Section } from '../../domain/handover-companies';
import { sectionRow, sectionsOf } from '../../domain/handover-companies';
import type { ReportHead } from '../../domain/handover-report';
import { reportDecisions, reportHead } from '../../domain/handover-report';
import { tableHead } from '../../domain/markdown';
import { remediesFor } from '../../domain/remedies';
import { mayBeSwitchedOn } from '../../domain/switch-on';
import type { Ferry, HandoverReport } from '../ferry';
import { readReport } from '../ferry';
import type { Screen, Shown } from '../screen';
import type { Context } from './context';
import { withFerry } from './with-ferry';

/** `ferry report`: the handover report, in Markdown; at any time, also long after the end. */
export function addReport({ program, run, screen, terminal }: Context): void {
  program
    .command('report <migration>')
    .description('Print the handover report in Markdown: what was moved, what was not and why, who decided what')
    .action((migration: string) => run(() => withFerry(terminal.env, (ferry) => report(screen, ferry, migration))));
}

/** Written while it is read: it may have any number of companies. */
async function report(screen: Screen, ferry: Ferry, migrationId: string): Promise<Shown> {
  const { head, companies } = await readReport(ferry, migrationId);
  const ended = head.ending !== null;
  if (screen.json)
    await screen.flowJson({ schema: 'ferry.report/1', ...head }, 'companies', forPrograms(companies(), ended));
  else await print(screen, head, companies, ended);
  return { shown: true };
}

async function print(
  screen: Screen,
  head: ReportHead,
  companies: HandoverReport['companies'],
  ended: boolean,
): Promise<void> {
  await screen.flow(reportHead(head));
  for (const section of sectionsOf(ended)) await printSection(screen, section, companies(section.states), ended);
  await screen.flow(`\n${reportDecisions(head)}`);
}

/** An empty section is not worth its head. */
async function printSection(
  screen: Screen,
  section: Section,
  companies: AsyncIterable<ReportedCompany>,
  ended: boolean,
): Promise<void> {
  let isEmpty = true;
  for await (const company of companies) {
    if (!section.holds(company)) continue;
    if (isEmpty) await screen.flow(`\n${tableHead(section.title, section.columns)}`);
    isEmpty = false;
    await screen.flow(sectionRow(section, company, ended));
  }
}

async function* forPrograms(companies: AsyncIterable<ReportedCompany>, ended: boolean): AsyncGenerator {
  for await (const company of companies) {
    yield { ...company, switchOn: mayBeSwitchedOn(company, ended), remedies: ended ? [] : remediesFor(company) };
  }
}
