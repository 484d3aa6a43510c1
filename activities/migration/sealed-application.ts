/** Registers the client's application with the service, if the client has sealed its secret. */
import { cancellationSignal, log } from '@temporalio/activity';
import { BadRequest, CompanyDataError } from '../../company-data-client';
import { applicationName } from '../../domain/preflight/applications';
import type { PreflightFinding } from '../../domain/preflight/findings';
import { errorFinding } from '../../domain/preflight/findings';
import { SealBroken } from '../../security';
import { discardSealedApplication, readUnregisteredApplication, readVault } from '../../store';
import type { ActivityDeps } from '../deps';

/**
 * Opens the client secret that the latest decision brought, sends it to the service, and deletes it. Does nothing if
 * there is none.
 *
 * @returns a finding if the secret cannot be opened or the service refuses the application; then the client must supply
 * it again
 * @throws {CompanyDataError} when the call fails in a way that a retry can repair
 */
export async function registerSealedApplication(
  { db, keys, service }: ActivityDeps,
  migrationId: string,
  platformKey: string,
): Promise<PreflightFinding | null> {
  const sealed = await readUnregisteredApplication(db, migrationId);
  if (!sealed) return null;
  const { decisionId, clientId, environment } = sealed;
  try {
    const clientSecret = (await readVault(db, keys, migrationId)).openClientSecret(sealed);
    const application = { clientId, clientSecret, environment };
    await service.putApplicationCredentials(platformKey, application, { signal: cancellationSignal() });
  } catch (error) {
    if (error instanceof CompanyDataError && error.retrySafety !== 'useless') throw error;
    if (!(error instanceof CompanyDataError || error instanceof SealBroken)) throw error;
    log.warn('the sealed application was not registered', { migrationId, reason: error.message });
    if (error instanceof BadRequest || error instanceof SealBroken)
      await discardSealedApplication(db, migrationId, decisionId);
    const reason = error instanceof SealBroken ? 'its sealed secret cannot be opened' : error.message;
    const message = `the application ${applicationName(sealed)} could not be registered: ${reason}`;
    return errorFinding('application-not-registered', message, 'seal and supply it again');
  }
  await discardSealedApplication(db, migrationId, decisionId);
  return null;
}
