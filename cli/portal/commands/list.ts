import { headlineFor } from '../../../portal/client/personal-texts';
import { sentence } from '../../../domain/text/sentences';
import { CommandFailed } from '../../shared/errors';
import type { CommandResult } from '../../terminal/output';
import type { TableCell } from '../../terminal/table';
import { fingerprintOfKey, sayOnce, signInAdvice, withPortal, type Connection, type Waiting } from '../connection';
import type { PortalContext } from '../context';
import { readSignIns, signingKeyOf, type SignIn } from '../sign-ins';
import { inReadersZone, mustConfirmKey } from '../summary';
import { EACH_WITHIN_MS } from './sign-in';

interface ListedSignIn {
  readonly signIn: SignIn;
  readonly headline: string | null;
  readonly isKeyConfirmed: boolean | null;
  /** True if support has to confirm the person's key before the person can decide. */
  readonly mustConfirm: boolean;
  readonly problem: string | null;
  /** The advice about the problem; null without a problem. */
  readonly advice: string | null;
}

/** `ferry --portal <link> list`: the migrations to which the person has signed in on this machine. */
export function addList(context: PortalContext): void {
  const { program, run, terminal } = context;
  program
    .command('list')
    .description('List the migrations at this portal to which you have signed in on this machine')
    .action(() =>
      run(async () => {
        const waiting = { say: sayOnce(context), withinMs: EACH_WITHIN_MS };
        const signIns = readSignIns(terminal.env, context.link().origin);
        const listed = await Promise.all(signIns.map((signIn) => readListed(context, signIn, waiting)));
        return listResult(listed, signInAdvice(context));
      }),
    );
}

async function readListed(context: PortalContext, signIn: SignIn, waiting: Waiting): Promise<ListedSignIn> {
  const read = async ({ session, readMigration }: Connection): Promise<ListedSignIn> => {
    const { view } = await readMigration();
    const { isKeyConfirmed } = session;
    const mustConfirm = mustConfirmKey(session, view);
    return { signIn, headline: view.headline, isKeyConfirmed, mustConfirm, problem: null, advice: null };
  };
  try {
    return await withPortal(context, signIn.migrationId, read, waiting);
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    const { message: problem, advice } = error;
    return { signIn, headline: null, isKeyConfirmed: null, mustConfirm: false, problem, advice };
  }
}

function listResult(listed: readonly ListedSignIn[], signIn: string): CommandResult {
  const keyText = ({ signIn, isKeyConfirmed }: ListedSignIn): TableCell => {
    if (signIn.role === 'viewer' || isKeyConfirmed === null) return '';
    return isKeyConfirmed ? 'confirmed' : { text: 'not confirmed', style: 'yellow' };
  };
  return {
    failed: listed.some(({ problem }) => problem !== null),
    json: {
      schema: 'ferry.portal-sign-ins/1',
      signIns: listed.map(({ signIn, headline, isKeyConfirmed, problem }) => ({
        ...{ portal: signIn.portal, migrationId: signIn.migrationId, person: signIn.person, role: signIn.role },
        ...{ keyFingerprint: fingerprintOfKey(signingKeyOf(signIn).publicKey), isKeyConfirmed, headline, problem },
      })),
      ...(listed.length === 0 ? { advice: signIn } : {}),
    },
    print: (output) => {
      if (listed.length === 0)
        return output.line(
          `You are not signed in to any migration at this portal on this machine. ${sentence(signIn)}`,
        );
      output.table(
        [{ title: 'Migration', unbroken: true }, 'You', 'Key', 'What is happening'],
        listed.map((each) => [
          ...[each.signIn.migrationId, `${each.signIn.person} (${each.signIn.role})`, keyText(each)],
          each.problem === null
            ? inReadersZone(headlineFor(each.headline ?? '', each.mustConfirm))
            : { text: `${each.problem}; ${each.advice ?? ''}`, style: 'red' as const },
        ]),
      );
    },
  };
}
