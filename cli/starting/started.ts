/** A migration that has been started, and the result of its preflight. */
import { inSupportWords } from '../../domain/companies/call-words';
import type { Preflight } from '../../domain/migration/preflight-result';
import { RESOLVED_IN_STEP_1 } from '../../domain/preflight/preflight';
import { isRotating, type Platform } from '../../platforms/platforms';
import { FileChanged, type ManifestFiles } from '../manifest';
import { applicationCommand } from '../suggestions/detail-commands';
import { START_WORKER } from '../../domain/progress/worker-advice';
import { CommandFailed } from '../shared/errors';
import { withCheckedFile } from '../suggestions/file-arguments';
import { printPreflight } from '../shared/results';
import type { Output } from '../terminal/output';

export interface StartedMigration {
  readonly migrationId: string;
  /** Null if the preflight has not finished. */
  readonly preflight: Preflight | null;
  /** Failures that keep the preflight from finishing. */
  readonly retriedErrors: readonly string[];
  /** Null if no Temporal UI for clients is configured. */
  readonly clientPage: string | null;
  /** The files of the manifest; absent without a manifest. */
  readonly files?: ManifestFiles;
}

/**
 * Says how to supply the credentials of a file later. If the platform rotates tokens, those in the file cannot be used,
 * because they were obtained before syncing was disabled.
 *
 * @param file the arguments that read the file ({@link fileArguments})
 */
export function supplyLaterText(platform: Platform, migrationId: string, file: string): string {
  const command = `ferry credentials ${migrationId} ${file}`;
  return isRotating(platform)
    ? `After the client has confirmed that syncing is off, export the tokens again, and supply them with: ${command}`
    : `Supply the file later with: ${command}`;
}

/**
 * Yields the credentials of a migration that has started. If their file has changed since it was checked, the error
 * says that the migration has started, because running the same command again would fail.
 *
 * @param supplyLater says how to supply the credentials
 * @throws CommandFailed
 */
export async function* credentialsAfterStart<Credential>(
  credentials: AsyncIterable<Credential>,
  migrationId: string,
  supplyLater: string,
): AsyncGenerator<Credential> {
  try {
    yield* credentials;
  } catch (error) {
    if (!(error instanceof FileChanged)) throw error;
    throw new CommandFailed(
      `${migrationId} has started, but ${error.file} changed while its credentials were being read`,
      `do not start the migration again; ${supplyLater}`,
      { cause: error },
    );
  }
}

/** Says why credentials were not stored: their companies were, for example, left out before the credentials arrived. */
export function noLongerWaitingText(migrationId: string, credentials: number): string {
  const companies = credentials === 1 ? 'its company is' : 'their companies are';
  return `because ${companies} no longer waiting to be moved. See the states with: ferry companies ${migrationId}`;
}

/**
 * Prints the result of the preflight, or why there is none. Problems that the client resolves in step 1 are printed as
 * warnings, as in `ferry check`, because they are expected at this time.
 */
export function printChecked(output: Output, platform: Platform, { migrationId, ...checked }: StartedMigration): void {
  const { retriedErrors, files } = checked;
  const preflight =
    checked.preflight && files ? withCheckedFile(checked.preflight, files, platform) : checked.preflight;
  if (preflight) {
    const { problems, problemCodes, warnings, advice = [], warningAdvice = [] } = preflight;
    const isResolvedLater = (_: string, index: number): boolean =>
      [...RESOLVED_IN_STEP_1, 'no-companies'].some((code) => code === problemCodes[index]);
    const isResolvedNow = (text: string, index: number): boolean => !isResolvedLater(text, index);
    printPreflight(output, {
      problems: problems.filter(isResolvedNow),
      advice: advice.filter(isResolvedNow),
      warnings: [...problems.filter(isResolvedLater), ...warnings],
      warningAdvice: [...advice.filter(isResolvedLater), ...warningAdvice],
    });
    if (!problemCodes.some((code) => RESOLVED_IN_STEP_1.includes(code))) return;
    const { command, does } = applicationCommand({ migrationId, platformKey: platform.key }, null);
    output.line(`  The client supplies its application in step 1: ${command}`);
    if (does !== undefined) output.line(`    ${does}`);
    return;
  }
  const why =
    retriedErrors.length > 0
      ? retriedErrors.map((error) => inSupportWords(error)).join('; ')
      : `checking a large account can take longer; if the account is not large, ${START_WORKER}`;
  output.line(`  ${output.styled('yellow', 'The supplied details have not been checked yet:')} ${why}`);
}
