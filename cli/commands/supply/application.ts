import { randomUUID } from 'node:crypto';
import { BadRequest, CompanyDataError, DeferredUntil } from '../../../company-data-client';
import { applicationName, findOtherApplication, type ApplicationFacts } from '../../../domain/preflight/applications';
import type { FindingCode } from '../../../domain/companies/finding';
import { plainTextAdvice } from '../../../domain/supply/client-secret';
import {
  discardSealedApplication,
  readApplications,
  readUnacceptedMigrations,
  sealedApplicationDigest,
  stageApplication,
  type StoredMigration,
} from '../../../store';
import { applicationFrom, assertOnlySealed, type ApplicationOptions } from '../../options/application-options';
import { effectOnMoved } from '../../shared/application-replacement';
import { CommandFailed, withAdvice } from '../../shared/errors';
import { confirmWithdrawal } from '../../shared/withdrawn-sign-offs';
import { isBug, readProgress, readProgressIfAnswered, waitForPreflight, type LedgerClient } from '../../../client';
import { isOver } from '../../../domain/migration/terminated';
import type { Terminal } from '../../terminal/terminal';
import type { CommandResult } from '../../terminal/output';
import { registeredElsewhere } from '../../suggestions/detail-commands';
import { addYesOption, confirm, type Context, type YesOption } from '../../shared/context';
import { environmentOption } from '../../options/options';
import { printPreflight } from '../../shared/results';
import { readOpenMigration, withLedgerClient } from '../../connections/clients';
import { withService } from '../../connections/service-client';
import { sendDecision, addActorOptions, actorFrom, type ActorOptions } from '../../shared/decisions';
import { readSealedApplication } from '../../manifest';
import { assertSealedFor } from '../../credentials/sealed-for';
import { readClientSecret } from '../../options/secret-file';

type Options = ApplicationOptions & ActorOptions & YesOption;

/**
 * `ferry application`: registers the client's own application with the service, once the migration has accepted the
 * decision. The migration receives the client id and the environment. The secret is sent only to the service, or, if
 * the client has sealed it, stored sealed until a worker sends it to the service.
 */
export function addApplication(context: Context): void {
  const { program, run, terminal } = context;
  const command = addActorOptions(
    program
      .command('application <migration>')
      .description("Register the client's own application: tokens work only with the application that obtained them")
      .option('--client-id <id>', 'client id of the application at the platform')
      .addOption(environmentOption('platform environment that the application is registered in'))
      .option(
        '--secret-file <path>',
        'a file that contains only the client secret (default: the command asks for the secret)',
      )
      .option(
        '--sealed <file>',
        'the file in which the client has sealed the application; replaces --client-id, --environment and --secret-file',
      ),
  );
  addYesOption(command).action((migration: string, options: Options) =>
    run(() => withLedgerClient(terminal.env, (ferry) => supply(context, ferry, migration, options))),
  );
}

/** The problems with which a worker reports that it has not registered a sealed application. */
const NOT_REGISTERED: readonly FindingCode[] = ['application-not-registered', 'service-refuses'];

async function supply(
  context: Context,
  ferry: LedgerClient,
  migrationId: string,
  options: Options,
): Promise<CommandResult> {
  const actor = actorFrom(options);
  const { migration, platform } = await readOpenMigration(
    ferry,
    migrationId,
    () => 'supply the application to a new migration',
  );
  assertOnlySealed(options);
  const { sealed: sealedFile } = options;
  const sealed = sealedFile === undefined ? null : await readSealed(ferry, migrationId, sealedFile);
  const { clientId, environment } = sealed ?? applicationFrom(options, 'the file from the client');
  if (platform.environment !== undefined && platform.environment !== environment) {
    throw new CommandFailed(
      `${platform.name} uses the ${platform.environment} environment, not ${environment}`,
      `nothing was sent; ${sealed ? 'have the client seal the application' : 'specify the application'} that obtained the tokens, with --environment ${platform.environment}`,
    );
  }
  await assertNotReplacing({ clientId, environment }, ferry, migration, platform.name);
  const effect = await effectOnMoved({ clientId, environment }, ferry, migration);
  if (effect !== null) {
    const replacing = { question: 'Replace the application?', consequence: effect.before, reversible: true };
    if (!(await confirm(context, options, replacing)))
      throw new CommandFailed('the application was not replaced', 'nothing was sent');
  }
  await confirmWithdrawal(context, options, migrationId, await readProgressIfAnswered(ferry, migrationId));
  const decisionId = randomUUID();
  const decide = () =>
    sendDecision(ferry, migrationId, 'applicationSupplied', {
      ...{ decisionId, clientId, environment },
      ...(sealed ? { sealedDigest: sealedApplicationDigest(sealed) } : {}),
      ...actor,
    });
  const result = sealed
    ? await storeSealed(ferry, migrationId, decisionId, { ...sealed, decide })
    : await sendSecret(context.terminal, platform.key, { clientId, environment }, options, decide);
  const isAccepted = result.json['outcome'] === 'applied';
  const preflight = isAccepted ? await waitForPreflight(ferry, migrationId) : null;
  // A worker registers a sealed application before it checks the details.
  const isRegistered =
    isAccepted &&
    (!sealed || (preflight !== null && !preflight.problemCodes.some((code) => NOT_REGISTERED.includes(code))));
  const othersToCheck = isRegistered ? await readOthersToCheck(ferry, migration) : [];
  const { secretFile } = options;
  return {
    ...result,
    failed: !isRegistered,
    json: { ...result.json, preflight },
    print: (output) => {
      if (isAccepted && preflight && !isRegistered)
        output.line(
          `${output.styled('red', '✗')} ${migrationId}: ${applicationName({ clientId, environment })} was not registered`,
        );
      else result.print(output);
      if (!isRegistered) {
        const isCertain = result.failed === true || preflight !== null;
        output.line(`  ${notRegisteredText({ migrationId, isCertain, isAccepted, isSealed: sealed !== null })}`);
      }
      if (effect !== null && isRegistered) output.line(`  ${output.styled('yellow', '!')} ${effect.after}`);
      if (preflight) printPreflight(output, preflight);
      for (const [other, command] of othersToCheck)
        output.line(`  ${other} was checked before this application was registered; check it again with: ${command}`);
      if (secretFile !== undefined && isRegistered)
        output.line(`  ${plainTextAdvice(secretFile, 'the client secret')}`);
    },
  };
}

const ANSWER_WITHIN_MS = 5_000;

/**
 * Reads the client's other migrations whose last check missed the application, with the commands that check them again.
 * Best effort, because the decision has been made: leaves out a migration that does not answer, and returns none if the
 * ledger does not answer.
 */
async function readOthersToCheck(
  ferry: LedgerClient,
  { id, client }: StoredMigration,
): Promise<readonly (readonly [migrationId: string, command: string])[]> {
  const { db } = ferry;
  const commandsFor = async (other: string): Promise<readonly (readonly [string, string])[]> => {
    const progress = await readProgress(ferry, other, ANSWER_WITHIN_MS);
    if (progress.checking || isOver(progress.state)) return [];
    const applications = await readApplications(db, { id: other, client });
    return registeredElsewhere(progress, applications).map(({ command }) => [other, command] as const);
  };
  try {
    const others = await readUnacceptedMigrations(db, id);
    return (await Promise.all(others.map((other) => commandsFor(other).catch(noneUnlessBug)))).flat();
  } catch (error) {
    return noneUnlessBug(error);
  }
}

function noneUnlessBug(error: unknown): readonly [] {
  if (isBug(error)) throw error;
  return [];
}

interface Registration {
  readonly migrationId: string;
  /** True if the decision was refused, or if the check of the details has shown that the application is missing. */
  readonly isCertain: boolean;
  readonly isAccepted: boolean;
  readonly isSealed: boolean;
}

function notRegisteredText({ migrationId, isCertain, isAccepted, isSealed }: Registration): string {
  if (isCertain) return 'Nothing was registered with the service';
  // This application is sealed. Any other application is registered as soon as its decision has been accepted.
  if (isAccepted)
    return (
      'The check of the details has not finished within 15 s, so it is not known yet whether the application was ' +
      `registered. To see the result of the check, run: ferry show ${migrationId}`
    );
  if (isSealed) return 'A worker registers the application once the decision takes effect';
  return (
    'The secret was not sent, so nothing was registered with the service. ' +
    'Once the problem above is resolved, run the command again'
  );
}

async function readSealed(ferry: LedgerClient, migrationId: string, file: string) {
  const sealed = await readSealedApplication(file);
  await assertSealedFor(sealed, ferry, migrationId, file);
  return sealed;
}

type Decide = () => ReturnType<typeof sendDecision>;

/** Stores the sealed secret. A worker registers the application once the ledger has recorded the decision. */
async function storeSealed(
  { db }: LedgerClient,
  migrationId: string,
  decisionId: string,
  { decide, ...application }: Awaited<ReturnType<typeof readSealed>> & { readonly decide: Decide },
): ReturnType<Decide> {
  await stageApplication(db, migrationId, decisionId, application);
  const decision = await decide();
  if (decision.failed === true) await discardSealedApplication(db, migrationId, decisionId);
  return decision;
}

/** Sends the secret to the service, but only once the decision has been accepted. */
async function sendSecret(
  terminal: Terminal,
  platformKey: string,
  { clientId, environment }: ReturnType<typeof applicationFrom>,
  options: ApplicationOptions,
  decide: Decide,
): ReturnType<Decide> {
  return withService(terminal.env, async (service) => {
    // A wrong API key or URL fails here, before the secret is typed and a decision is sent.
    const [{ value: account }] = await Promise.all([service.account(), service.integration(platformKey)]);
    if (account.role === 'client')
      throw new CommandFailed(
        'COMPANY_DATA_API_KEY has the role client, but only an administrator key can register an application',
        'nothing was sent; set COMPANY_DATA_API_KEY to an administrator key, or ask support to register the application',
      );
    const clientSecret = await readClientSecret(terminal, options);
    const decision = await decide();
    if (decision.json['outcome'] === 'applied')
      await service
        .putApplicationCredentials(platformKey, { clientId, clientSecret, environment })
        .catch((error: unknown) => failRegistration(error, terminal.env));
    return decision;
  });
}

/** Says that the migration has accepted the decision, but the registration failed, so the command must be repeated. */
function failRegistration(error: unknown, env: NodeJS.ProcessEnv): never {
  if (!(error instanceof CompanyDataError)) throw error;
  throw new CommandFailed(
    `the migration has accepted the application, but its registration with the service failed: ${error.message}`,
    adviceAfterFailure(error, env),
    { cause: error },
  );
}

function adviceAfterFailure(error: CompanyDataError, env: NodeJS.ProcessEnv): string {
  if (error instanceof BadRequest)
    return 'check the client id, the environment and the secret. Then run the command again';
  const advised = withAdvice(error, env);
  const advice = advised instanceof CommandFailed ? advised.advice : '';
  // The advice for a rate limit already says when to run the command again.
  return error instanceof DeferredUntil ? advice : `${advice}. Then run the command again`;
}

/**
 * Refuses an application that would replace the application of another open migration, because the tokens of that
 * migration work only with its own application.
 */
async function assertNotReplacing(
  application: ApplicationFacts,
  { db }: LedgerClient,
  migration: StoredMigration,
  platformName: string,
): Promise<void> {
  const { client, others } = await readApplications(db, migration);
  const other = findOtherApplication(application, others);
  if (!other) return;
  const instead =
    other.client === client
      ? `supply ${applicationName(other.application)} for both migrations`
      : 'give each client its own account (docs/deploying.md)';
  throw new CommandFailed(
    `${other.migrationId} uses the application ${applicationName(other.application)}. ` +
      `${applicationName(application)} would replace it, because an account has only one ${platformName} application`,
    `nothing was sent; ${instead}; or, if ${other.migrationId} moves no companies, wait until it has ended`,
  );
}
