import { clientOnlyRefusal, roleRefusal } from '../../../domain/decisions/roles';
import { isOver } from '../../../domain/migration/terminated';
import { parseDecision, type DecisionMessage } from '../../../domain/migration/parse-decision';
import type { Progress } from '../../../domain/progress/progress';
import { counted } from '../../../domain/text/sentences';
import { readCompanies, readMigration, type Database } from '../../../store';
import { NoSuchMigration, readProgressIfAnswered, type DecisionContent, type MigrationClient } from '../../../client';
import { assertApplicable } from '../../shared/applicable-companies';
import {
  addCompanyCommand,
  COMPANY_COMMANDS,
  readSelection,
  type CompanyCommand,
  type SelectionOptions,
} from '../../options/company-selection';
import type { CommandResult } from '../../terminal/output';
import { assertLedger, withMigrationClient } from '../../connections/clients';
import { finalConsequence, lastCompaniesConsequence } from '../../shared/consequences';
import { confirm, type Context, type YesOption } from '../../shared/context';
import {
  addDecisionOptions,
  contentFrom,
  sendCompanyDecision,
  sendDecision,
  type DecisionOptions,
} from '../../shared/decisions';
import { CommandFailed } from '../../shared/errors';
import { missingDigestWarning } from '../../shared/required-digest';
import { readProgressOrUnanswered } from '../../connections/unanswered';
import { confirmWithdrawal } from '../../shared/withdrawn-sign-offs';
import { mapped, collected } from '../../../domain/text/streams';

/** `ferry confirm-sync-disabled`, `exclude`, `retry`, `relink`, `skip`: send decisions on companies. */
export function addCompanyDecisions(context: Context): void {
  for (const command of COMPANY_COMMANDS) addCommand(context, command);
}

function addCommand(context: Context, definition: CompanyCommand): void {
  const { program, run, terminal, now } = context;
  const command = addCompanyCommand(program, definition);
  addDecisionOptions(command, now, definition.needsReason && 'required').action(
    (migration: string, references: string[], options: SelectionOptions & DecisionOptions & YesOption) =>
      run(() =>
        withMigrationClient(terminal.env, async (ferry) => {
          const companies = await readSelection(references, options, definition, (wave) =>
            readWave(assertLedger(ferry, '--wave', 'specify the companies').db, migration, wave),
          );
          return decideCompanies(context, ferry, { migration, definition, companies, options });
        }),
      ),
  );
}

async function readWave(db: Database, migrationId: string, wave: number): Promise<readonly string[]> {
  const companies = readCompanies(db, migrationId, { wave, states: ['waiting'] });
  const references = await collected(mapped(companies, ({ reference }) => reference));
  if (references.length > 0) return references;
  if ((await readMigration(db, migrationId)) === undefined) throw new NoSuchMigration(migrationId);
  throw new CommandFailed(
    `wave ${wave} of ${migrationId} has no company that is waiting to be moved`,
    `see the companies of this wave with: ferry companies ${migrationId} --wave ${wave}; ` +
      `to see the wave of every company, run: ferry companies ${migrationId} --csv`,
  );
}

interface Selected {
  readonly migration: string;
  readonly definition: CompanyCommand;
  readonly companies: 'all' | readonly string[];
  readonly options: DecisionOptions & YesOption;
}

async function decideCompanies(
  context: Context,
  ferry: MigrationClient,
  { migration: migrationId, definition: { name, message, final }, companies, options }: Selected,
): Promise<CommandResult> {
  const content = contentFrom(options);
  const { db } = ferry;
  const progress = message === 'confirmSyncDisabled' ? undefined : await readProgressIfAnswered(ferry, migrationId);
  // The migration will refuse the decision, so the answer to a question would make no difference.
  const isRefused = progress !== undefined && willRefuse(progress, message, { companies, ...content });
  if (db) await assertApplicable(db, migrationId, { name, message }, companies);
  // Before a final decision, only warns that sign-offs are withdrawn, because the final question below asks anyway.
  const asked = final ? { ...options, yes: true as const } : options;
  if (!isRefused) await confirmWithdrawal(context, asked, migrationId, progress);
  if (companies === 'all') {
    // The digest binds the confirmation to the current manifest, so that it does not cover companies added later.
    const digest = message === 'confirmSyncDisabled' ? await readManifestDigest(context, ferry, migrationId) : {};
    return sendDecision(ferry, migrationId, message, { companies, ...content, ...digest });
  }
  if (final && !isRefused) {
    const { fate } = final;
    const effects = [
      await finalConsequence(db, migrationId, { fate, references: companies }),
      lastCompaniesConsequence(progress, companies.length),
    ];
    const consequence = effects.filter((each) => each !== null).join('. ');
    const question = `${final.question} ${counted(companies.length, 'company')} of ${migrationId} for good?`;
    if (!(await confirm(context, options, { question, consequence })))
      throw new CommandFailed(
        'nothing was decided',
        `to see other ways to resolve problems of companies, run: ferry exceptions ${migrationId}`,
      );
  }
  return sendCompanyDecision(ferry, migrationId, message, companies, content);
}

function willRefuse({ route, state }: Progress, message: DecisionMessage, content: DecisionContent): boolean {
  if (isOver(state)) return true;
  const parsed = parseDecision(message, content, () => '');
  if ('malformed' in parsed) return false;
  return (roleRefusal(route, parsed.decision) ?? clientOnlyRefusal(route, parsed.decision)) !== null;
}

async function readManifestDigest(
  { output }: Context,
  ferry: MigrationClient,
  migrationId: string,
): Promise<{ readonly digest?: string }> {
  const { progress, unanswered } = await readProgressOrUnanswered(ferry, migrationId);
  if (progress) return { digest: progress.digests['disable-syncing'] };
  const refused = await missingDigestWarning(ferry, migrationId, 'confirmation', unanswered);
  if (refused !== null) output.warn(refused);
  return {};
}
