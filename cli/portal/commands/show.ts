import { viewFor } from '../../../portal/client/personal-texts';
import { confirmAdvice } from '../connection';
import { commandText, withMigrationId, type PortalContext } from '../context';
import { withPortalToRead } from '../reading';
import { mustConfirmKey, printView } from '../summary';

/** `ferry --portal <link> show` */
export function addShow(context: PortalContext): void {
  const { program, run } = context;
  program
    .command('show <migration>')
    .description('Show what is happening, what you need to do and by when, and what you can decide')
    .action((migrationId: string) =>
      run(() =>
        withPortalToRead(context, migrationId, async ({ session, readMigration }) => {
          const answer = await readMigration();
          const { publicKey, person, role, isKeyConfirmed } = session;
          const mustConfirm = mustConfirmKey(session, answer.view);
          return {
            json: { schema: 'ferry.portal-show/1', ...answer, person, role, isKeyConfirmed },
            print: (output) => {
              printView(
                output,
                { ...answer, view: viewFor(session, answer.view) },
                {
                  suggest: (command) => commandText(context, command),
                  withMigration: (command) => withMigrationId(context, command, session.migrationId),
                  mustConfirm,
                  isViewer: role === 'viewer',
                  canDecide: role === 'client' && isKeyConfirmed,
                },
              );
              if (!mustConfirm || publicKey === null) return;
              output.line();
              output.line(`Before you can decide, ${confirmAdvice(answer.view, publicKey)}`);
            },
          };
        }),
      ),
    );
}
