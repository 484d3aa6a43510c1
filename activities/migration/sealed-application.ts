/** Registers the client's application with the service, if the client has sealed the application's secret. */
import { cancellationSignal, log } from '@temporalio/activity';
import { BadRequest, CompanyDataError } from '../../company-data-client';
import { inClientWords } from '../../domain/companies/client-words';
import { applicationName, findOtherApplication } from '../../domain/preflight/applications';
import { errorFinding, type PreflightFinding } from '../../domain/preflight/findings';
import { SealBroken } from '../../security';
import {
  discardSealedApplication,
  discardSealedApplications,
  readApplications,
  readUnregisteredApplication,
  readVault,
  type StoredMigration,
} from '../../store';
import type { ActivityDeps } from '../deps';

const SUPPLY_AGAIN = 'supply the application again';
const CORRECT = 'correct the application, and supply it again';
const CHECK_KEY =
  'check COMPANY_DATA_API_KEY of the workers, and the account of this key; the workers retry the registration whenever they check the details';

/**
 * Opens the client secret that was sealed for the latest decision, sends it to the service, and deletes it. Does
 * nothing if there is no such secret, or if another open migration uses a different application.
 *
 * @returns null, or a finding if the secret cannot be opened or the service refuses the call. The code of the finding
 *   is `application-not-registered` if the client must supply the application again. Otherwise the code is
 *   `service-refuses`, and the secret is kept, so that a later check of the details can try again
 * @throws {CompanyDataError} when the call fails in a way that a retry can repair
 */
export async function registerSealedApplication(
  { db, keys, service }: ActivityDeps,
  migration: StoredMigration,
): Promise<PreflightFinding | null> {
  const { id: migrationId, platformKey } = migration;
  const sealed = await readUnregisteredApplication(db, migrationId);
  if (!sealed) return null;
  const { decisionId, clientId, environment } = sealed;
  // Before the secret was stored, `ferry application` (in the portal: a worker) checked that no other open migration
  // uses a different application. If a different application has been supplied since then, the preflight reports it.
  if (findOtherApplication(sealed, (await readApplications(db, migration)).others)) return null;
  try {
    const clientSecret = (await readVault(db, keys, migrationId)).openClientSecret(sealed);
    const application = { clientId, clientSecret, environment };
    await service.putApplicationCredentials(platformKey, application, { signal: cancellationSignal() });
  } catch (error) {
    if (error instanceof CompanyDataError && error.retrySafety !== 'useless') throw error;
    if (!(error instanceof CompanyDataError || error instanceof SealBroken)) throw error;
    log.warn('the application with a sealed secret was not registered', { migrationId, reason: error.message });
    const isBroken = error instanceof SealBroken;
    const isUseless = error instanceof BadRequest || isBroken;
    if (isUseless) await discardSealedApplication(db, migrationId, decisionId);
    const reason = isBroken ? 'its sealed secret cannot be opened' : error.message;
    const message = `the application ${applicationName(sealed)} could not be registered with the service: ${reason}`;
    const again = isBroken ? SUPPLY_AGAIN : CORRECT;
    const [code, advice, clientAdvice] = isUseless
      ? (['application-not-registered', again, again] as const)
      : (['service-refuses', CHECK_KEY, 'support has to check its access to the service'] as const);
    // The client's page does not show the advice, so the client's message says what to do.
    const clientMessage = `${inClientWords(message)}; ${clientAdvice}`;
    return { ...errorFinding(code, message, advice), clientMessage };
  }
  await discardSealedApplications(db, migrationId);
  return null;
}
