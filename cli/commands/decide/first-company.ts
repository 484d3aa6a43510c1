import type { MigrationClient } from '../../../client';
import { firstNotReadyForSupport } from '../../../domain/companies/credential-state';
import { sentence } from '../../../domain/text/sentences';
import { findCompany } from '../../../store';
import { withMigrationClient } from '../../connections/clients';
import type { Context } from '../../shared/context';
import {
  addDecisionOptions,
  assertCompany,
  contentFrom,
  sendDecision,
  type DecisionOptions,
} from '../../shared/decisions';
import { choiceText } from '../../suggestions/first-company-commands';
import { withMoreText, type CommandResult } from '../../terminal/output';

/** `ferry first-company`: chooses the first company, or the next one to try if the first was not accepted. */
export function addFirstCompany({ program, run, terminal, now }: Context): void {
  addDecisionOptions(
    program
      .command('first-company <migration> <reference>')
      .description(
        'Choose the company to move first. If you do not accept its result, choose another company, or the same company again',
      ),
    now,
  ).action((migration: string, reference: string, options: DecisionOptions) =>
    run(() =>
      withMigrationClient(terminal.env, async (ferry) => {
        await assertCompany(ferry, migration, reference);
        const content = { company: reference, ...contentFrom(options) };
        return withReadiness(ferry, reference, await sendDecision(ferry, migration, 'chooseFirstCompany', content));
      }),
    ),
  );
}

/** Adds a warning if the company that was chosen to go first is not ready yet, or was left out. */
export async function withReadiness(
  { db }: MigrationClient,
  reference: string | undefined,
  result: CommandResult,
): Promise<CommandResult> {
  const { migrationId, outcome } = result.json;
  if (!db || reference === undefined || outcome !== 'applied') return result;
  const company = await findCompany(db, String(migrationId), { reference });
  const why = company ? firstNotReadyForSupport(company) : null;
  if (why === null) return result;
  const isLeftOut = company?.state === 'excluded' || company?.state === 'skipped';
  const warning = isLeftOut
    ? `${reference} cannot go first, because ${why}. ${sentence(choiceText(String(migrationId), { as: 'support' }))}`
    : `${reference} is not ready yet: ${why}`;
  return withMoreText(result, (output) => output.line(`  ${output.styled('yellow', '!')} ${warning}`));
}
