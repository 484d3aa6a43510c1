import { isOpen } from '../../domain/company-state';
import type { ReportedCompany, ReportHead } from '../../domain/handover-report';
import {
  MOVED_HEAD,
  movedLine,
  NOT_MOVED_HEAD,
  notMovedLine,
  OPEN_HEAD,
  openLine,
  reportDecisions,
  reportHead,
} from '../../domain/handover-report';
import type { LedgerCompany } from '../../store';
import type { HandoverReport } from '../ferry';
import { readReport } from '../ferry';
import type { CommandResult } from '../screen';
import type { Context } from './context';
import { withFerry } from './with-ferry';

/** `ferry report`: the handover report, in Markdown; at any time, also long after the end. */
export function addReport({ program, run, terminal }: Context): void {
  program
    .command('report <migration>')
    .description('Print the handover report in Markdown: what was moved, what was not and why, who decided what')
    .action((migration: string) =>
      run(() => withFerry(terminal.env, async (ferry) => report(await readReport(ferry, migration)))),
    );
}

async function report(read: HandoverReport): Promise<CommandResult> {
  const head = headOf(read);
  const companies: ReportedCompany[] = [];
  for await (const company of read.companies) companies.push(reported(company));
  return {
    json: { schema: 'ferry.report/1', ...head, companies },
    print: (screen) => {
      const section = (
        title: string,
        line: (company: ReportedCompany) => string,
        of: readonly ReportedCompany[],
      ): void => {
        if (of.length > 0) screen.line(`\n${title}\n${of.map(line).join('\n')}`);
      };
      screen.line(reportHead(head));
      section(
        OPEN_HEAD,
        openLine,
        companies.filter(({ state }) => isOpen(state)),
      );
      section(
        NOT_MOVED_HEAD,
        notMovedLine,
        companies.filter(({ state }) => state !== 'migrated' && !isOpen(state)),
      );
      section(
        MOVED_HEAD,
        movedLine,
        companies.filter(({ state }) => state === 'migrated'),
      );
      screen.line(`\n${reportDecisions(head)}`);
    },
  };
}

function headOf({ migration, counts, decisions }: HandoverReport): ReportHead {
  const { id: migrationId, client, platformKey, contact, ending, paused } = migration;
  return {
    migrationId,
    client,
    platformKey,
    contact,
    ending,
    paused,
    suppliedAt: migration.suppliedAt.toISOString(),
    closedAt: migration.closedAt?.toISOString() ?? null,
    vaultDestroyedAt: migration.vaultDestroyedAt?.toISOString() ?? null,
    counts,
    decisions,
  };
}

function reported(company: LedgerCompany): ReportedCompany {
  return { ...company, movedAt: company.movedAt?.toISOString() ?? null };
}
