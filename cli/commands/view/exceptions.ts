import { remedyText } from '../../../domain/companies/remedies';
import {
  readApplications,
  readCompanies,
  readCompanyPage,
  readMigration,
  type Database,
  type LedgerCompany,
  type StoredMigration,
} from '../../../store';
import { NoSuchMigration, readStage, type LedgerClient } from '../../../client';
import type { Output, AlreadyWritten } from '../../terminal/output';
import { counted } from '../../../domain/text/sentences';
import type { Context } from '../../shared/context';
import { remediesNow } from '../../suggestions/remedy-commands';
import { companyJson, NOTHING_AHEAD } from '../../../client/report-formats';
import { readClientPortal } from '../../connections/client-portal';
import { withLedgerClient } from '../../connections/clients';
import { commandFor, readOpening, type MigrationWithStage, type Target } from '../../reporting/listed-migration';
import { readGroups, ofGroup, printGroup } from '../../reporting/exception-groups';
import {
  readLacking,
  readRetried,
  readReplaced,
  printReplaced,
  printRetried,
  retriedJson,
  printLacking,
} from '../../reporting/companies-needing-attention';
import { mapped } from '../../../domain/text/streams';

export function addExceptions({ program, run, output, terminal }: Context): void {
  program
    .command('exceptions <migration>')
    .description(
      'List the companies with problems, and the commands that resolve each problem. A problem is, for example, a failed or deferred move, a missing credential or a replaced application',
    )
    .action((migration: string) =>
      run(() =>
        withLedgerClient(terminal.env, async (ferry) =>
          exceptions(output, ferry, migration, await readClientPortal(ferry, migration)),
        ),
      ),
    );
}

/** Streams the exceptions, because there can be any number of them. Reads all of them again to print each group. */
async function exceptions(
  output: Output,
  ferry: LedgerClient,
  migrationId: string,
  portal: string | null,
): Promise<AlreadyWritten> {
  const { db } = ferry;
  const stored = await readMigration(db, migrationId);
  if (!stored) throw new NoSuchMigration(migrationId);
  const stage = await readStage(ferry, stored);
  const migration = { ...stored, stage, application: (await readApplications(db, stored)).supplied };
  const readExceptions = (): AsyncIterable<LedgerCompany> => readListed(db, migration);
  const opening = await readOpening(ferry, migration);
  if (output.json) {
    await output.streamJson(
      {
        ...{ schema: 'ferry.exceptions/1', migrationId },
        withoutCredential: (await readLacking(db, migration)).matching,
        retried: (await readRetried(db, migration)).matching,
        retriedRemedies: await retriedJson(db, { migration, portal }, opening),
        replacedApplication: (await readReplaced(db, migrationId)).matching,
        notMovedAtEnd: await countUnreached(db, stored),
      },
      'exceptions',
      mapped(readExceptions(), (company) => exceptionJson({ migration, portal }, company)),
    );
    return { written: true };
  }
  let count = 0;
  for (const [key, group] of await readGroups(migration, readExceptions())) {
    await printGroup(output, { migration, portal }, opening, group, () => ofGroup(migration, key, readExceptions()));
    count += group.companies;
  }
  const lacking = await readLacking(db, migration);
  printLacking(output, { migration, portal }, lacking);
  const replaced = await readReplaced(db, migrationId);
  await printReplaced(output, { db, migrationId }, replaced);
  const retried = await readRetried(db, migration);
  await printRetried(output, db, { migration, portal }, retried, opening);
  const unreached = await countUnreached(db, stored);
  const total = [
    ...(count === 0 ? [] : [counted(count, 'exception')]),
    ...(lacking.matching === 0 ? [] : [`${counted(lacking.matching, 'company')} without a usable credential`]),
    ...(replaced.matching === 0 ? [] : [`${counted(replaced.matching, 'company')} with a replaced application`]),
    ...(unreached === 0 ? [] : [`${counted(unreached, 'company')} not moved before the migration ended`]),
  ];
  if (total.length > 0) output.line(total.join(', '));
  else if (retried.matching === 0) output.line('No exceptions.');
  if (unreached > 0)
    output.line(
      `Companies that were still waiting when the migration ended do not count as exceptions. To list all companies that were not moved, run: ferry companies ${migrationId} --state not-moved`,
    );
  if (count > 0 && stage !== 'open') for (const line of endLines(migration)) output.line(line);
  return { written: true };
}

function endLines({ id, stage, ending }: MigrationWithStage): readonly string[] {
  const report = `To see what each company needs, run: ferry report ${id}`;
  return stage === 'terminated'
    ? [
        `The workflow has ended in Temporal, so no company moves and no decision is accepted. ${report}`,
        `To close the migration, run: ferry sweep --close ${id}`,
      ]
    : [`The migration is ${ending ?? 'closed'} and accepts no more decisions. ${report}`];
}

/** Reads the exceptions. Once the workflow has ended, shows no further try or check, because none will come. */
async function* readListed(db: Database, { id, stage }: MigrationWithStage): AsyncGenerator<LedgerCompany> {
  for await (const company of readCompanies(db, id, { exceptions: true }))
    yield stage === 'open' ? company : { ...company, ...NOTHING_AHEAD };
}

/** Counts the companies that were still waiting when the migration ended, and that have no problem of their own. */
async function countUnreached(db: Database, { id, state }: StoredMigration): Promise<number> {
  if (state !== 'closed') return 0;
  const filter = { states: ['waiting'], exceptions: false } as const;
  return (await readCompanyPage(db, id, filter, { offset: 0, limit: 0 })).matching;
}

function exceptionJson({ migration, portal }: Target, company: LedgerCompany) {
  const accepted = remediesNow(company, migration);
  const remedies = accepted.map((remedy) => ({
    remedy,
    does: remedyText(remedy, accepted),
    command: commandFor(remedy, { migration, portal }, [company.reference]),
  }));
  return { ...companyJson(company, migration.stage !== 'open'), remedies };
}
