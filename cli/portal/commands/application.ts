import { base64Of } from '../../../portal/client/supply';
import { applicationDigest, hashOfBox } from '../../../domain/supply/sealed-digest';
import { createSealer, fingerprintOf, sealClientSecret } from '../../../security';
import { addProviderOption, type ProviderOption } from '../../commands/supply/seal';
import { readSealedApplication } from '../../manifest';
import { applicationFrom, assertOnlySealed, type ApplicationOptions } from '../../options/application-options';
import { environmentOption } from '../../options/options';
import { readClientSecret } from '../../options/secret-file';
import type { CommandResult } from '../../terminal/output';
import { withPortal, type Connection } from '../connection';
import type { PortalContext } from '../context';
import { assertMayDecide, decisionResult, review, sign, type DecideOptions } from '../decide';
import { assertSealedWith, PROVIDER_SOURCE, trustedKey } from '../sealing-key';
import { addDecideOptions } from './decisions';

type Options = ApplicationOptions & DecideOptions & ProviderOption;

/** `ferry --portal <link> application` */
export function addApplication(context: PortalContext): void {
  const { program, run } = context;
  const command = program
    .command('application <migration>')
    .description('Supply your own application; its client secret is encrypted on this machine')
    .option('--client-id <id>', 'client id of the application at the platform')
    .addOption(environmentOption('environment of the platform in which the application is registered'))
    .option('--secret-file <path>', 'a file that contains only the client secret (default: ferry asks for the secret)')
    .option(
      '--sealed <file>',
      'a sealed file with the application and its secret; replaces --client-id, --environment and --secret-file',
    );
  addProviderOption(addDecideOptions(command), PROVIDER_SOURCE).action((migrationId: string, options: Options) =>
    run(() => withPortal(context, migrationId, (portal) => supply(context, portal, options))),
  );
}

async function supply(context: PortalContext, portal: Connection, options: Options): Promise<CommandResult> {
  assertOnlySealed(options);
  // Checks the options before the person compares a fingerprint.
  if (options.sealed === undefined) applicationFrom(options, 'a sealed file');
  const { view } = await portal.readMigration();
  assertMayDecide(portal.session, view);
  const key = await trustedKey(context, portal, view, options);
  const { box, ...facts } = await readApplication(context, key, options);
  const message = 'applicationSupplied';
  const shown = [`Your application: ${facts.clientId} (${facts.environment})`];
  await review(context, portal, { message, facts: shown }, options);
  const { reason } = options;
  const sealedDigest = applicationDigest({ ...facts, boxHash: hashOfBox(box) });
  const fields = { ...facts, sealedDigest, ...(reason === undefined ? {} : { reason }) };
  const decision = await sign(portal, { message, fields });
  const body = { keyFingerprint: fingerprintOf(key.publicKey), ...facts, sealed: base64Of(box), decision };
  const answer = await portal.api.submit('/api/application', body, portal.say);
  return decisionResult(context, portal, { message, decisionId: decision.decisionId, answer });
}

async function readApplication(
  { terminal }: PortalContext,
  key: Awaited<ReturnType<typeof trustedKey>>,
  options: Options,
) {
  const { sealed: file } = options;
  if (file !== undefined) {
    const application = await readSealedApplication(file);
    assertSealedWith(key, application, { file, content: 'application' });
    return { clientId: application.clientId, environment: application.environment, box: application.sealed };
  }
  const { clientId, environment } = applicationFrom(options, 'a sealed file');
  const clientSecret = await readClientSecret(terminal, options);
  const seal = createSealer(key.publicKey, key.migrationId);
  const box = sealClientSecret(seal, key.migrationId, { clientId, environment, clientSecret });
  return { clientId, environment, box };
}
