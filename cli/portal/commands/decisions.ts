import { limitsText } from '../../../presentation/wording/decisions';
import type { Command } from 'commander';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { addYesOption } from '../../shared/context';
import {
  addCompanyCommand,
  COMPANY_COMMANDS,
  readSelection,
  type CompanyCommand,
  type SelectionOptions,
} from '../../options/company-selection';
import { CommandFailed } from '../../shared/errors';
import { referenceList } from '../../shared/results';
import {
  addLimitOptions,
  addWindowOptions,
  limitsFrom,
  windowsFrom,
  type LimitOptions,
} from '../../options/limit-options';
import { addReasonOption } from '../../options/options';
import { exampleTime, localTime, parseTime } from '../../terminal/times';
import { withPortal, type Connection } from '../connection';
import { commandText, type PortalContext } from '../context';
import { decide, type DecideOptions, type Deciding } from '../decide';
import { eachCompany } from '../reading';
import { OF_SUPPORT } from '../refusals';

/** Adds `--reason`, and `--yes` unless the command has it already. */
export function addDecideOptions(command: Command, reason: 'required' | 'optional' = 'optional'): Command {
  addReasonOption(command, reason);
  return command.options.some(({ long }) => long === '--yes') ? command : addYesOption(command);
}

/** Adds to a description that only support makes the decision in a managed migration, if that is so. */
const describe = (message: DecisionMessage, description: string): string =>
  OF_SUPPORT.includes(message) ? `${description}. In a managed migration, only support does this` : description;

/** `approve`, `reject`, `sign-off`, `propose-time`, `adjust`, `pause`, `resume`, `cancel` */
export function addStepDecisions(context: PortalContext): void {
  const { program, now } = context;
  const run = (migrationId: string, deciding: Deciding, options: DecideOptions): Promise<void> =>
    context.run(() => withPortal(context, migrationId, (portal) => decide(context, portal, deciding, options)));
  const digestOption = [
    '--digest <digest>',
    'decide only if what you reviewed still has this digest (printed by: show --json)',
  ] as const;

  addDecideOptions(
    program
      .command('approve <migration> [step]')
      .description(
        'Approve a step (default: the step that is waiting for your approval, or else the only step that you can approve)',
      ),
  )
    .option(...digestOption)
    .action((migrationId: string, step: string | undefined, options: DecideOptions) =>
      run(migrationId, { message: 'approve', step }, options),
    );
  addDecideOptions(
    program
      .command('sign-off <migration>')
      .description('Sign off the handover: accept which companies were moved, and which were not'),
  )
    .option(...digestOption)
    .action((migrationId: string, options: DecideOptions) =>
      run(migrationId, { message: 'approve', step: 'complete-migration' }, options),
    );
  addDecideOptions(
    program
      .command('reject <migration> [step]')
      .description(
        'Reject a step: withdraw its approvals, and reopen the step if it has ended (default: the step that you can reject, if there is only one)',
      ),
    'required',
  ).action((migrationId: string, step: string | undefined, options: DecideOptions) =>
    run(migrationId, { message: 'reject', step }, options),
  );
  addDecideOptions(
    addWindowOptions(
      program
        .command('propose-time')
        .argument('<migration>')
        .argument('<when>', undefined, parseTime)
        .description(
          `Propose when to move the first company: "${exampleTime(now)}" in your time zone, ISO 8601, or now`,
        ),
    ),
  ).action((migrationId: string, when: Date, options: DecideOptions & Pick<LimitOptions, 'window'>) => {
    const { windows } = windowsFrom(options);
    const fields = { startAt: when.toISOString(), ...(windows === undefined ? {} : { windows }) };
    const facts = [`You propose ${localTime(when)}`, ...(windows === undefined ? [] : [limitsText({ windows })])];
    return run(migrationId, { message: 'proposeTime', fields, facts }, options);
  });
  addDecideOptions(
    addLimitOptions(
      program.command('adjust <migration>').description(describe('adjust', 'Change when and how fast companies move')),
      'self-service',
    ),
  ).action((migrationId: string, options: DecideOptions & LimitOptions) => {
    const limits = limitsFrom(options);
    const facts = [`You change: ${limitsText(limits)}`];
    if (Object.keys(limits).length > 0)
      return run(migrationId, { message: 'adjust', fields: { limits }, facts }, options);
    return context.run(async () => {
      throw new CommandFailed(
        'no limit was specified',
        `list the limits with: ${commandText(context, 'adjust --help')}`,
      );
    });
  });
  for (const [message, reason, description] of [
    ['pause', 'required', 'Pause the migration: no more moves begin'],
    ['resume', 'optional', 'Resume a paused migration'],
    ['cancel', 'required', 'Cancel the migration: companies that have moved stay moved'],
  ] as const satisfies readonly (readonly [DecisionMessage, 'required' | 'optional', string])[])
    addDecideOptions(program.command(`${message} <migration>`).description(description), reason).action(
      (migrationId: string, options: DecideOptions) => run(migrationId, { message }, options),
    );
}

/** `confirm-sync-disabled`, `exclude`, `retry`, `relink`, `skip` */
export function addCompanyDecisions(context: PortalContext): void {
  for (const definition of COMPANY_COMMANDS) addCompanyDecision(context, definition);
}

function addCompanyDecision(context: PortalContext, definition: CompanyCommand): void {
  const { name, message, description } = definition;
  const own = 'Confirm that your own application no longer uses the tokens of these companies';
  const command = addCompanyCommand(context.program, definition).description(
    describe(message, name === 'confirm-sync-disabled' ? own : description),
  );
  addDecideOptions(command, definition.needsReason && 'required').action(
    (migrationId: string, references: readonly string[], options: SelectionOptions & DecideOptions) =>
      context.run(() =>
        withPortal(context, migrationId, async (portal) => {
          const companies = await readSelection(references, options, definition, (wave) =>
            readWave(context, portal, wave),
          );
          const facts = companies === 'all' ? [] : [`Companies: ${referenceList(companies, MAX_NAMED)}`];
          return decide(context, portal, { message, fields: { companies }, facts }, options);
        }),
      ),
  );
}

const MAX_NAMED = 10;

/** Returns the companies of a wave that are waiting for their confirmation. */
async function readWave(context: PortalContext, portal: Connection, wave: number): Promise<readonly string[]> {
  const references: string[] = [];
  for await (const company of eachCompany(portal, { state: 'not-moved-yet' }))
    if (company.wave === wave && company.confirmedAt === null) references.push(company.reference);
  if (references.length > 0) return references;
  throw new CommandFailed(
    `wave ${wave} has no company that is waiting for a confirmation`,
    `list the wave of each company, and since when its syncing is off, with: ${commandText(context, 'companies --csv', portal.session.migrationId)}`,
  );
}
