import type { DecisionMessage } from '../../domain/migration/parse-decision';
import type { Step } from '../../domain/migration/steps';
import { isStep, STEPS } from '../../domain/migration/steps';
import { findCompany } from '../../store';
import { CommandFailed } from './command-failed';
import type { Answer, MigrationClient, Sent } from '../../client';
import { decide } from '../../client';
import type { CommandResult, Output } from '../terminal';
import { PRINT_NOTHING } from '../terminal';
import { nearest } from './spelling';

/** Sends a decision and says what became of it. */
export async function send(
  ferry: MigrationClient,
  migrationId: string,
  message: DecisionMessage,
  sent: Sent,
): Promise<CommandResult> {
  const answer = await decide(ferry, migrationId, message, sent);
  return {
    failed: answer.became === 'refused',
    json: { schema: 'ferry.decision/1', migrationId, message, ...answer },
    ...(answer.became === 'applied' ? { printQuietly: PRINT_NOTHING } : {}),
    print: (output) => {
      output.line(`${markOf(output, answer)} ${migrationId}: ${answer.text}`);
      const note = signatureNote(ferry, answer, sent);
      if (note !== null) output.line(`  ${note}`);
    },
  };
}

/** Whoever has a signing key learns whether it was used. */
function signatureNote({ signer }: MigrationClient, { signedBy }: Answer, { by }: Sent): string | null {
  if (signedBy !== null) return `signed with the key of ${signedBy}`;
  return signer ? `not signed: the signing key here is that of ${signer.by}, and --by says ${by}` : null;
}

function markOf(output: Output, { became }: Answer): string {
  switch (became) {
    case 'applied':
      return output.styled('green', '✓');
    case 'refused':
      return output.styled('red', '✗ refused:');
    case 'recorded':
      return output.styled('yellow', '…');
  }
}

/** @throws CommandFailed when there is no such step */
export function stepNamed(step: string): Step {
  if (isStep(step)) return step;
  const near = nearest(step, STEPS);
  throw new CommandFailed(
    `there is no step ${step}`,
    near === undefined ? `the steps are: ${STEPS.join(', ')}` : `did you mean ${near}?`,
  );
}

/**
 * Where the ledger can be read; otherwise the migration finds out.
 *
 * @throws CommandFailed when the manifest has no company of this reference
 */
export async function assertCompany({ db }: MigrationClient, migrationId: string, reference: string): Promise<void> {
  if (!db || (await findCompany(db, migrationId, { reference }))) return;
  throw new CommandFailed(`${migrationId} has no company ${reference}`, `see: ferry companies ${migrationId}`);
}
