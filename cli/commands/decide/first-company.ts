import type { Context } from '../../shared/context';
import { assertCompany, sendDecision, addDecisionOptions, contentFrom } from '../../shared/decisions';
import type { DecisionOptions } from '../../shared/decisions';
import { withMigrationClient } from '../../shared/clients';

/** `ferry first-company`: which company proves the way; after one was moved, which is moved instead. */
export function addFirstCompany({ program, run, terminal }: Context): void {
  addDecisionOptions(
    program
      .command('first-company <migration> <reference>')
      .description('Choose the company that goes first; after one was moved: another, or the same one again'),
  ).action((migration: string, reference: string, options: DecisionOptions) =>
    run(() =>
      withMigrationClient(terminal.env, async (ferry) => {
        await assertCompany(ferry, migration, reference);
        return sendDecision(ferry, migration, 'chooseFirstCompany', {
          company: reference,
          ...contentFrom(options),
        });
      }),
    ),
  );
}
