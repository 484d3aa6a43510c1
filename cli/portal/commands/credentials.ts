import type { Company } from '../../../portal/client/api';
import { readByReference, refusedCredentials } from '../../../portal/client/credential-check';
import { notSentTexts, unsentTexts, type Refused } from '../../../portal/client/refused';
import { supplyInParts } from '../../../portal/client/supply';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { isPartial } from '../../../domain/migration/partial-outcome';
import { counted } from '../../../domain/text/sentences';
import { findPlatform } from '../../../platforms/platforms';
import { createSealer, fingerprintOf, sealCredential, type MigrationKey } from '../../../security';
import {
  addSealOptions,
  addProviderOption,
  assertSealOptions,
  sealFile,
  type HowToSupply,
  type ProviderOption,
  type SealFileOptions,
} from '../../commands/supply/seal';
import {
  addFileOptions,
  CredentialMatcher,
  disposeOf,
  identifyFile,
  isSealedFile,
  readCredentials,
  readSealedCredentials,
  type EncodingOption,
  type FindingList,
  type ShredOption,
} from '../../manifest';
import { CommandFailed } from '../../shared/errors';
import { fileArguments } from '../../suggestions/file-arguments';
import { shellQuoted } from '../../../domain/text/shell-quoted';
import { assertNoTimeFor, obtainedAtOption, timesFrom } from '../../credentials/obtained-at';
import { findingsJson, printFindings, invalidFileResult } from '../../shared/results';
import type { CommandResult } from '../../terminal/output';
import { withPortal, type Connection } from '../connection';
import { commandText, type PortalContext } from '../context';
import { assertDecided, assertMayDecide, printOutcome, review, send, type DecideOptions } from '../decide';
import { eachCompany } from '../reading';
import { assertSealedWith, PROVIDER_SOURCE, trustedKey } from '../sealing-key';
import { inReadersZone } from '../summary';
import { addDecideOptions } from './decisions';

interface CredentialOptions extends DecideOptions, ShredOption, EncodingOption, ProviderOption {
  readonly obtainedAt?: Date;
}

/** `ferry --portal <link> credentials`, `replace-credential`, `seal` */
export function addCredentials(context: PortalContext): void {
  const { program, run, terminal } = context;
  for (const [name, message, description] of [
    [
      'credentials',
      'credentialsSupplied',
      'Check, encrypt and send the credentials in a CSV or JSON file with one row per company, or send a sealed file. In a managed migration, if the platform rotates tokens, obtain the credentials only after you have confirmed that syncing is off',
    ],
    [
      'replace-credential',
      'replaceCredential',
      'Replace the credentials of companies that must reconnect, were not moved, wait for another try, or have an unknown outcome. These companies are then tried again',
    ],
  ] as const)
    addFileOptions(
      addProviderOption(
        addDecideOptions(program.command(`${name} <migration> <file>`).description(description)).addOption(
          obtainedAtOption(),
        ),
        PROVIDER_SOURCE,
      ),
    ).action((migrationId: string, file: string, options: CredentialOptions) =>
      run(() => withPortal(context, migrationId, (portal) => supply(context, portal, { message, file, options }))),
    );

  addSealOptions(
    addProviderOption(
      program
        .command('seal <migration> <file>')
        .description(
          'Encrypt a credential file or a client secret into a file that only the provider can open. Nothing is sent',
        ),
      PROVIDER_SOURCE,
    ),
  ).action((migrationId: string, file: string, options: SealFileOptions & ProviderOption) =>
    run(() =>
      withPortal(context, migrationId, async (portal) => {
        assertSealOptions(options);
        const { view } = await portal.readMigration();
        const key = await trustedKey(context, portal, view, options);
        const howToSupply: HowToSupply = (content, sealed) => {
          const words = `${content === 'credentials' ? content : `${content} --sealed`} ${shellQuoted(sealed)}`;
          return `Supply this file with: ${commandText(context, words, view.migrationId)}`;
        };
        return sealFile(terminal, key, file, options, howToSupply);
      }),
    ),
  );
}

interface Supply {
  readonly message: DecisionMessage;
  readonly file: string;
  readonly options: CredentialOptions;
}

async function supply(
  context: PortalContext,
  portal: Connection,
  { message, file, options }: Supply,
): Promise<CommandResult> {
  const { view } = await portal.readMigration();
  assertMayDecide(portal.session, view);
  const key = await trustedKey(context, portal, view, options);
  const original = await identifyFile(file);
  const known = await readByReference(eachCompany(portal));
  const read = await readFile(key, file, options, known);
  const json = { schema: 'ferry.portal-credentials/1', migrationId: view.migrationId } as const;
  if (read.findings && read.findings.errors > 0) {
    const details = { ...json, ...NOTHING_SENT, text: 'the file has errors' };
    return invalidFileResult(details, read.findings, 'add --json', 'nothing was sent');
  }
  const { reason } = options;
  const replaces = message === 'replaceCredential';
  // The page shows the same texts, and does not know the address with which the person runs `ferry`, nor the file.
  const withCommands = (text: string): string =>
    text.replaceAll(/ferry --portal '<link>' (\S+) '<file>'/g, (_, command: string) =>
      commandText(context, `${command} ${fileArguments(file, options)}`, view.migrationId),
    );
  const completed = (refused: Refused): Refused =>
    refused.map(({ reference, why }) => ({ reference, why: withCommands(why) }));
  const unsent = completed(refusedCredentials(read.credentials, known, { isRotating: view.isRotating, replaces }));
  const isUnsent = new Set(unsent.map(({ reference }) => reference));
  const credentials = read.credentials.filter(({ reference }) => !isUnsent.has(reference));
  if (credentials.length === 0 && unsent.length > 0) return nothingToSend(json, unsent, read.findings);
  const facts = [`${file}: ${counted(credentials.length, 'credential')} can be sent`, ...unsentTexts(unsent)];
  await review(context, portal, { message, facts }, options);
  const answer = await supplyInParts(
    { message, credentials, fields: reason === undefined ? {} : { reason } },
    {
      keyFingerprint: fingerprintOf(key.publicKey),
      createSealer: async () => {
        const sealer = createSealer(key.publicKey, key.migrationId);
        return ({ seal }) => seal(sealer);
      },
      submit: (path, body) => portal.api.submit(path, body, portal.say),
      decide: (decision) => send(portal, decision),
      say: portal.say,
      progress: () => undefined,
    },
  );
  const { outcome, supplied } = answer;
  const text = withCommands([answer.text, ...notSentTexts(unsent)].join('. '));
  const refused = [...unsent, ...completed(answer.refusedCredentials ?? [])];
  assertDecided(context, view.migrationId, answer);
  const isComplete = outcome === 'applied' && refused.length === 0 && !isPartial(answer);
  // A sealed file contains no plain text, so it is removed only on request.
  const disposes = read.findings !== null || options.shred === true;
  const disposal = disposes ? await disposeOf(original, isComplete, options, context.terminal) : null;
  return {
    failed: !isComplete || disposal?.failed === true,
    json: {
      ...{ ...json, outcome, text, supplied, refusedCredentials: refused },
      ...{ shredded: disposal?.shredded ?? false, ...listedFindings(read.findings) },
    },
    ...(isComplete ? { printQuietly: () => undefined } : {}),
    print: (output) => {
      if (read.findings) printFindings(output, read.findings, null);
      const isPartlyDone = outcome === 'applied' && supplied > 0;
      printOutcome(output, view.migrationId, { isDone: isComplete, isPartlyDone, outcome, text });
      disposal?.print(output);
    },
  };
}

type Sealer = ReturnType<typeof createSealer>;

/** A credential that is sealed when its part is sent, or that is sealed already. */
interface SealableCredential {
  readonly reference: string;
  readonly obtainedAt: string;
  readonly seal: (sealer: Sealer) => Uint8Array;
}

interface ReadFile {
  /** Null for a sealed file, which was checked when it was sealed. */
  readonly findings: FindingList | null;
  readonly credentials: readonly SealableCredential[];
}

/**
 * Refuses a credential of another organization, as `ferry check` does. The content of a sealed file cannot be compared
 * here.
 */
async function readFile(
  key: MigrationKey,
  file: string,
  options: CredentialOptions,
  known: ReadonlyMap<string, Company>,
): Promise<ReadFile> {
  const credentials: SealableCredential[] = [];
  if (await isSealedFile(file)) {
    assertNoTimeFor(file, options);
    const sealedFile = await readSealedCredentials(file);
    assertSealedWith(key, sealedFile, { file, content: 'credentials' });
    for await (const { reference, obtainedAt, sealed } of sealedFile.credentials)
      credentials.push({ reference, obtainedAt, seal: () => sealed });
    return { findings: null, credentials };
  }
  const platform = findPlatform(key.platformKey);
  if (!platform)
    throw new CommandFailed(`this version of ferry does not support the platform ${key.platformKey}`, 'update ferry');
  const matcher = new CredentialMatcher('correct the reference, or ask support to add the company');
  for (const { row, reference, organization } of known.values())
    if (organization !== undefined) matcher.add({ row, reference, organization });
  const read = await readCredentials(file, platform, timesFrom(options), options.encoding, matcher);
  if (read.findings.errors === 0)
    for await (const credential of read.credentials) {
      const { reference, obtainedAt } = credential;
      const seal = (sealer: Sealer): Uint8Array => sealCredential(sealer, key.migrationId, credential);
      credentials.push({ reference, obtainedAt, seal });
    }
  return { findings: read.findings, credentials };
}

/** A sealed file was checked when it was sealed, so it has no findings. */
const listedFindings = (findings: ReadFile['findings']) => (findings ? findingsJson(findings) : { findings: [] });

const NOTHING_SENT = { outcome: 'refused', text: '', supplied: 0, refusedCredentials: [], shredded: false };

/** No credential of the file would be accepted, so nothing is sent. */
function nothingToSend(json: CommandResult['json'], refused: Refused, findings: ReadFile['findings']): CommandResult {
  const text = ['no credential was sent', ...unsentTexts(refused)].join('. ');
  return {
    failed: true,
    json: { ...json, ...NOTHING_SENT, text, refusedCredentials: refused, ...listedFindings(findings) },
    print: (output) => {
      if (findings) printFindings(output, findings, 'add --json');
      output.line(`${output.styled('red', '✗ refused:')} ${inReadersZone(text)}`);
    },
  };
}
