/**
 * Stores credentials and client secrets that the client sealed before sending them, in the browser or with `ferry
 * --portal`. Does not open them.
 */
import { obtainedElsewhereProblem } from '../../domain/supply/row-parser';
import { findOtherApplication, isSameApplication } from '../../domain/preflight/applications';
import { counted } from '../../domain/text/sentences';
import { findPlatform } from '../../platforms/platforms';
import { SealedApplicationSchema, SealedCredentialsSchema, type RequestAnswer } from '../../portal/contract/requests';
import {
  DUPLICATE,
  NO_SUCH_COMPANY,
  NOT_CONFIRMED,
  TOO_EARLY,
  wrongStateText,
} from '../../presentation/wording/credential-refusals';
import {
  discardSealedApplication,
  readApplications,
  readCompanies,
  readDependentCompanies,
  readKeyFingerprint,
  readMigration,
  readNamespace,
  readOutcome,
  sealedApplicationDigest,
  stageApplication,
  stageCredentials,
  type Database,
  type PortalRequest,
  type SealedCredential,
  type StoredMigration,
  type SupplyResult,
} from '../../store';
import { failed, type PortalContext } from './context';
import { decisionRefusal, KEY_NOT_CONFIRMED, send } from './decisions';

type Refused = NonNullable<RequestAnswer['refusedCredentials']>;

/** Stages sealed credentials, which count once the decision that supplies them is recorded. Idempotent. */
export async function storeCredentials({ ferry }: PortalContext, request: PortalRequest): Promise<RequestAnswer> {
  const { db } = ferry;
  const { migrationId, person, role, isKeyConfirmed } = request;
  if (role !== 'client') return failed(`the invitation of ${person} is read-only`);
  if (!isKeyConfirmed) return failed(KEY_NOT_CONFIRMED);
  const parsed = SealedCredentialsSchema.safeParse(request.body);
  if (!parsed.success) return failed('the sealed credentials are malformed; reload the page, or update ferry');
  const { decisionId, replaces, keyFingerprint, credentials } = parsed.data;
  const refusal = await keyRefusal(db, migrationId, keyFingerprint);
  if (refusal !== null) return failed(refusal);
  if (await readOutcome(db, migrationId, decisionId))
    return failed(
      'these credentials were not stored, because the migration has already answered the decision about them; if the migration still asks for these credentials, supply them again',
    );
  const { accepted, refused } = examined(credentials);
  const staged = await stageCredentials(db, migrationId, accepted, person, {
    ...{ decisionId, replaces, isLimited: true },
  });
  const refusedCredentials = [...refused, ...(await refusedBy(db, migrationId, staged, replaces))];
  const stored = staged.stored.length;
  return { outcome: 'stored', text: `${counted(stored, 'credential')} stored`, stored, refusedCredentials };
}

/** Refuses duplicates, and credentials whose `obtainedAt` is impossible, for example in the future. */
function examined(credentials: readonly (Omit<SealedCredential, 'sealed'> & { readonly sealed: string })[]): {
  readonly accepted: readonly SealedCredential[];
  readonly refused: Refused;
} {
  const now = new Date();
  const accepted = new Map<string, SealedCredential>();
  const refused: Refused = [];
  for (const { reference, obtainedAt, sealed } of credentials) {
    const problem = obtainedElsewhereProblem(new Date(obtainedAt), now);
    if (problem !== null)
      refused.push({
        reference,
        why: `a credential cannot have been obtained ${problem}; correct the time or your device's clock, and supply the credential again`,
      });
    else if (accepted.has(reference)) refused.push({ reference, why: DUPLICATE });
    else accepted.set(reference, { reference, obtainedAt, sealed: Buffer.from(sealed, 'base64') });
  }
  return { accepted: [...accepted.values()], refused };
}

async function refusedBy(
  db: Database,
  migrationId: string,
  { unknown, wrongState, obtainedTooEarly }: SupplyResult,
  replaces: boolean,
): Promise<Refused> {
  const refused: Refused = [
    ...unknown.map((reference) => ({ reference, why: NO_SUCH_COMPANY })),
    ...obtainedTooEarly.map(({ reference, confirmedAt }) => ({
      reference,
      why: confirmedAt === null ? NOT_CONFIRMED : TOO_EARLY,
    })),
  ];
  if (wrongState.length === 0) return refused;
  for await (const { reference, state } of readCompanies(db, migrationId, { references: wrongState }))
    refused.push({ reference, why: wrongStateText(state, replaces) });
  return refused;
}

/**
 * Stages the client's application with its sealed secret, and sends the decision that supplies it. Idempotent.
 *
 * @returns null if the outcome of the decision is not known yet
 */
export async function storeApplication(context: PortalContext, request: PortalRequest): Promise<RequestAnswer | null> {
  const { db } = context.ferry;
  const { migrationId } = request;
  const parsed = SealedApplicationSchema.safeParse(request.body);
  if (!parsed.success) return failed('the sealed application is malformed; reload the page, or update ferry');
  const { keyFingerprint, clientId, environment, sealed, decision } = parsed.data;
  const refusal = decisionRefusal(request, 'applicationSupplied', decision);
  if (refusal !== null) return failed(refusal);
  if (decision['clientId'] !== clientId || decision['environment'] !== environment)
    return failed(
      'the signed decision names an application other than the one that was supplied with it; supply the application again, and tell support if this happens twice',
    );
  const box = Buffer.from(sealed, 'base64');
  if (decision['sealedDigest'] !== sealedApplicationDigest({ clientId, environment, sealed: box }))
    return failed(
      'the encrypted client secret does not match the signature; supply the client secret again, and tell support if this happens twice',
    );
  const { decisionId } = decision;
  if (await readOutcome(db, migrationId, decisionId)) return send(context, request, 'applicationSupplied', decision);
  const migration = await readMigration(db, migrationId);
  const problem =
    (await keyRefusal(db, migrationId, keyFingerprint)) ??
    (migration && (await applicationRefusal(db, migration, { clientId, environment })));
  if (problem) return failed(problem);
  await stageApplication(db, migrationId, decisionId, { clientId, environment, sealed: box });
  const answer = await send(context, request, 'applicationSupplied', decision);
  if (answer?.outcome === 'refused') await discardSealedApplication(db, migrationId, decisionId);
  return answer;
}

async function keyRefusal(db: Database, migrationId: string, fingerprint: string): Promise<string | null> {
  const current = await readKeyFingerprint(db, migrationId);
  if (current === null)
    return 'nothing was stored, because the migration has ended or has no migration key yet; if it has not ended, try again in a minute, and if this happens again, tell your contact';
  return current === fingerprint
    ? null
    : 'the data was encrypted with a key that is no longer in use; supply the data again (in a browser, reload the page first)';
}

/**
 * Returns why an application cannot be used; null if it can. The text does not name other clients or their
 * applications.
 */
async function applicationRefusal(
  db: Database,
  migration: StoredMigration,
  application: { readonly clientId: string; readonly environment: string },
): Promise<string | null> {
  const platform = findPlatform(migration.platformKey);
  if (platform?.environment !== undefined && platform.environment !== application.environment)
    return `${platform.name} uses the ${platform.environment} environment, not ${application.environment}; supply the application that obtained your tokens, with the environment ${platform.environment}`;
  const { others } = await readApplications(db, migration);
  if (findOtherApplication(application, others))
    return 'another open migration of this account uses a different application, and an account has only one application per platform; ask support';
  const { id, client, platformKey } = migration;
  const used = await readDependentCompanies(db, { platformKey, namespace: await readNamespace(db, id), except: null });
  const broken = used.filter((each) => !isSameApplication(each.application, application));
  if (broken.length === 0) return null;
  return broken.some((each) => each.client === client)
    ? 'companies have already been connected with another application, and a new application would break their connections; ask support'
    : 'companies of another client of this account have been connected with another application, and a new application would break their connections; if your tokens were obtained by your application, tell support its client id, and that you need an account of your own';
}
