import { randomUUID } from 'node:crypto';
import { MAX_COMPANIES_PER_MESSAGE } from '../../../domain/migration/decision-fields';
import { earlierText, type PartOutcome } from '../../../domain/migration/part-outcomes';
import { changedCount, isPartial } from '../../../domain/migration/partial-outcome';
import { inChunks } from '../../../domain/text/streams';
import {
  addSupplyResult,
  countReplacing,
  emptySupplyResult,
  readCompanyPage,
  readStagedDigest,
  stageCredentials,
} from '../../../store';
import { decide, readProgressIfAnswered, type DecisionResult, type LedgerClient } from '../../../client';
import { identifyFile, addFileOptions, type ShredOption, type EncodingOption } from '../../manifest';
import type { Terminal } from '../../terminal/terminal';
import { namedCompanies } from '../../../domain/text/sentences';
import { addYesOption, type Context, type YesOption } from '../../shared/context';
import { obtainedAtOption } from '../../credentials/obtained-at';
import { readClientPortal } from '../../connections/client-portal';
import { readRefused } from '../../credentials/refused-credentials';
import { isEverythingStored, suppliedResult } from '../../credentials/supplied-result';
import { fileArguments } from '../../suggestions/file-arguments';
import { signingAdvice } from '../../suggestions/signing-advice';
import {
  addDecisionOptions,
  addActorOptions,
  actorFrom,
  contentFrom,
  decisionResult,
  joinedResult,
  partOutcome,
  type DecisionOptions,
} from '../../shared/decisions';
import { withLedgerClient } from '../../connections/clients';
import { confirmWithdrawal } from '../../shared/withdrawn-sign-offs';
import { readCredentialFile, hasErrors, invalidFile, dispose } from '../../credentials/credential-file';
import { withMoreText, type CommandResult } from '../../terminal/output';

interface CredentialOptions extends DecisionOptions, ShredOption, EncodingOption {
  readonly obtainedAt?: Date;
}

/**
 * `ferry credentials`, `replace-credential`: reads credentials from a file, seals them unless the client has sealed
 * them, stores them, and can then destroy the file.
 */
export function addCredentials(context: Context): void {
  const { program, run, terminal, now } = context;
  addFileOptions(
    addActorOptions(
      program
        .command('credentials <migration> <file>')
        .description(
          'Encrypt and store credentials from a CSV or JSON file with one row per company, or store a sealed file. In a managed migration, if the platform rotates tokens, obtain the credentials only after the client has confirmed that syncing is off',
        )
        .addOption(obtainedAtOption()),
    ),
  ).action((migration: string, file: string, options: CredentialOptions) =>
    run(() =>
      withLedgerClient(terminal.env, (ferry) => supply(ferry, terminal, { migrationId: migration, file, options })),
    ),
  );

  addYesOption(
    addFileOptions(
      addDecisionOptions(
        program
          .command('replace-credential <migration> <file>')
          .description(
            'Replace the credentials of companies that must reconnect, were not moved, wait for another try, or have an unknown outcome, and move the companies with the new credentials',
          )
          .addOption(obtainedAtOption()),
        now,
      ),
    ),
  ).action((migration: string, file: string, options: CredentialOptions & YesOption) =>
    run(() =>
      withLedgerClient(terminal.env, (ferry) => replace(ferry, context, { migrationId: migration, file, options })),
    ),
  );
}

interface Request {
  readonly migrationId: string;
  readonly file: string;
  readonly options: CredentialOptions;
}

/**
 * Stages the credentials first, and then sends the decision. The ledger uses the credentials only once it has accepted
 * the decision, and deletes them if it refuses the decision.
 */
async function supply(ferry: LedgerClient, terminal: Terminal, request: Request): Promise<CommandResult> {
  const { migrationId, file, options } = request;
  const actor = actorFrom(options);
  const original = await identifyFile(file);
  const read = await readCredentialFile(ferry, migrationId, file, options);
  if (hasErrors(read)) return invalidFile(read);
  const decisionId = randomUUID();
  const staged = await stageCredentials(ferry.db, migrationId, read.credentials, actor.by, {
    decisionId,
    replaces: false,
    provider: ferry.providerFingerprint,
  });
  const replacing = await countReplacing(ferry.db, migrationId, { decisionId, replaces: false });
  const decision =
    staged.stored.length === 0
      ? null
      : await decide(ferry, migrationId, 'credentialsSupplied', {
          decisionId,
          companies: staged.stored.length,
          sealedDigest: await readStagedDigest(ferry.db, migrationId, { decisionId, replaces: false }),
          ...actor,
        });
  const supplied = decision?.outcome === 'refused' ? { ...staged, stored: [] } : staged;
  const isInUse = isEverythingStored(supplied) && decision?.outcome === 'applied' && !isPartial(decision);
  const disposal = await dispose(read, original, isInUse, options, terminal);
  const portal = await readClientPortal(ferry, migrationId);
  const refused = await readRefused(
    ferry.db,
    { migrationId, file: fileArguments(file, options), isSealed: read.isSealed, portal },
    supplied,
    'credentials',
  );
  const advice = decision && (await signingAdvice(ferry, migrationId, actor, decision));
  const isPartlyUsed = decision !== null && isPartial(decision);
  const reported = { ...supplied, decision, advice, isPartlyUsed, replacing };
  const result = suppliedResult(migrationId, read, reported, disposal, refused);
  return decision?.outcome === 'applied' ? withMissing(ferry, migrationId, result) : result;
}

const MISSING_SHOWN = 5;

/** Adds the waiting companies that are not held back and have no credential, whether or not they are confirmed. */
async function withMissing({ db }: LedgerClient, migrationId: string, result: CommandResult): Promise<CommandResult> {
  const first = { offset: 0, limit: MISSING_SHOWN };
  const { companies, matching } = await readCompanyPage(db, migrationId, { credentialMissing: true }, first);
  const references = companies.map(({ reference }) => reference);
  const json = { ...result.json, missing: { companies: matching, references } };
  return withMoreText({ ...result, json }, (output) => {
    if (matching === 0) return;
    output.line(`  still without a credential: ${namedCompanies(matching, references)}`);
    if (matching > references.length)
      output.line(
        `  to list all of these companies, see the column "credential" in the output of: ferry companies ${migrationId} --csv`,
      );
  });
}

/** Sends a decision for every {@link MAX_COMPANIES_PER_MESSAGE} companies, because a decision cannot contain more. */
async function replace(
  ferry: LedgerClient,
  context: Context,
  request: Request & { readonly options: YesOption },
): Promise<CommandResult> {
  const { terminal } = context;
  const { migrationId, file, options } = request;
  const content = contentFrom(options);
  const original = await identifyFile(file);
  const read = await readCredentialFile(ferry, migrationId, file, options);
  if (hasErrors(read)) return invalidFile(read);
  await confirmWithdrawal(context, options, migrationId, await readProgressIfAnswered(ferry, migrationId));
  const supplied = emptySupplyResult();
  const answers: PartOutcome[] = [];
  let changed = 0;
  let last: DecisionResult | null = null;
  for await (const part of inChunks(read.credentials, MAX_COMPANIES_PER_MESSAGE)) {
    const decisionId = randomUUID();
    const staged = await stageCredentials(ferry.db, migrationId, part, content.by, {
      ...{ decisionId, replaces: true, provider: ferry.providerFingerprint },
    });
    addSupplyResult(supplied, { ...staged, stored: [] });
    if (staged.stored.length === 0) continue;
    const sealedDigest = await readStagedDigest(ferry.db, migrationId, { decisionId, replaces: true });
    const sent = { decisionId, companies: staged.stored, sealedDigest, ...content };
    last = await decide(ferry, migrationId, 'replaceCredential', sent);
    if (last.outcome === 'refused') break;
    answers.push(partOutcome(last, staged.stored.length));
    changed += changedCount(last, staged.stored.length);
    supplied.stored.push(...staged.stored);
  }
  const result = last && afterParts(last, answers);
  const isInUse = isEverythingStored(supplied) && result?.outcome === 'applied' && !isPartial(result);
  const disposal = await dispose(read, original, isInUse, options, terminal);
  const portal = await readClientPortal(ferry, migrationId);
  const refused = await readRefused(
    ferry.db,
    { migrationId, file: fileArguments(file, options), isSealed: read.isSealed, portal },
    supplied,
    'replace-credential',
  );
  const isPartlyUsed = answers.some(isPartial);
  const reported = { ...supplied, decision: null, advice: null, isPartlyUsed };
  const stored = suppliedResult(migrationId, read, reported, disposal, refused);
  if (last === null || result === null) return stored;
  const advice = await signingAdvice(ferry, migrationId, content, last, 'replaceCredential');
  const decided = { migrationId, message: 'replaceCredential', content, result, advice } as const;
  const { failed, json, print } = decisionResult(ferry, decided);
  return {
    failed: stored.failed === true || failed === true,
    json: { ...stored.json, decision: { ...json, companies: changed } },
    print: (output) => {
      if (isPartlyUsed) print(output);
      // If nothing was stored before the refusal, the text of the refusal is enough.
      if (json['outcome'] !== 'refused' || supplied.stored.length > 0) stored.print(output);
      if (!isPartlyUsed) print(output);
      if (json['outcome'] !== 'refused') return;
      if (supplied.stored.length > 0) return output.line('  the other credentials in the file were not stored');
      output.line('  no credential was stored');
      disposal.print(output);
    },
  };
}

/** Returns the result of the decisions about all parts, of which the last can be refused. */
function afterParts(last: DecisionResult, answers: readonly PartOutcome[]): DecisionResult {
  if (last.outcome !== 'refused') return joinedResult(last, answers);
  const earlier = earlierText(answers);
  return earlier === null ? last : { ...last, text: `${last.text}. ${earlier}` };
}
