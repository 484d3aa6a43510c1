import type { Context } from '../../shared/context';
import { assertCompany, send } from '../../shared/send';
import type { SenderOptions } from '../../shared/sender';
import { addDecider, sentBy } from '../../shared/sender';
import { withMigrationClient } from '../../shared/with-ferry';

/** `ferry first-company`: which company proves the way; after one was moved, which is moved instead. */
export function addFirstCompany({ program, run, terminal }: Context): void {
  addDecider(
    program
      .command('first-company <migration> <reference>')
      .description('Choose the company that goes first; after one was moved: another, or the same one again'),
  ).action((migration: string, reference: string, options: SenderOptions) =>
    run(() =>
      withMigrationClient(terminal.env, async (ferry) => {
        await assertCompany(ferry, migration, reference);
        return send(ferry, migration, 'chooseFirstCompany', {
          company: reference,
          ...sentBy(options),
        });
      }),
    ),
  );
}
