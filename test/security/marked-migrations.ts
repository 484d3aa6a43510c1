/** Runs migrations whose credentials, names, approvers and reasons are unique markers (leak-search.ts). */
import { decide, startMigration, type LedgerClient } from '../../client';
import { manifestDigest } from '../../cli/manifest';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { findPlatform } from '../../platforms/platforms';
import { Secret } from '../../security';
import { supplyCredentials } from '../../store';
import { waitForProgress } from '../workflows/running-migration';
import { createMarker } from './leak-search';

export const SUPPORT = { role: 'support', by: createMarker('content') } as const;
export const CLIENT = { role: 'client', by: createMarker('content') } as const;

/** The organization id of the last company that was created. */
let lastOrganization = 6_000_000_000_000_000;

/**
 * Starts a migration, takes it through steps 1 to 4, and waits until its first company has been verified.
 *
 * @param afterStart runs after the start, before the function waits for the preflight
 */
export async function moveFirstCompany(
  ferry: LedgerClient,
  client: string,
  tokens: readonly string[],
  afterStart?: (id: string) => Promise<void>,
): Promise<string> {
  const platform = findPlatform('quickbooks-online');
  if (!platform) throw new Error('the platform table has no quickbooks-online');
  const companies = tokens.map((token, index) => {
    lastOrganization += 1;
    const organization = String(lastOrganization);
    const refreshToken = `${token}.${createMarker('credential')}`;
    return {
      credential: { accessToken: createMarker('credential'), refreshToken, realmId: organization },
      row: {
        row: index + 1,
        reference: `R-${index + 1}`,
        name: createMarker('content'),
        organization,
        expectedInvoices: null,
        wave: null,
        family: null,
      },
    };
  });
  const rows = companies.map(({ row }) => row);
  const id = await startMigration(ferry, {
    client,
    platform,
    rows,
    manifestDigest: manifestDigest(rows),
    contact: createMarker('content'),
    by: SUPPORT.by,
    firstCompany: null,
  });
  await afterStart?.(id);
  await waitForProgress(ferry, id, ({ preflight, checking }) => preflight !== null && !checking);
  await applyDecision(ferry, id, 'approve', { step: 'supply-details', ...SUPPORT });
  await applyDecision(ferry, id, 'proposeTime', {
    startAt: new Date().toISOString(),
    reason: createMarker('content'),
    ...SUPPORT,
  });
  await applyDecision(ferry, id, 'approve', { step: 'schedule', ...SUPPORT });
  await applyDecision(ferry, id, 'approve', { step: 'schedule', ...CLIENT });
  await applyDecision(ferry, id, 'approve', { step: 'update-application', ...CLIENT });
  await applyDecision(ferry, id, 'approve', { step: 'update-application', ...SUPPORT });
  await applyDecision(ferry, id, 'confirmSyncDisabled', { companies: 'all', ...CLIENT });
  await waitForProgress(ferry, id, ({ step }) => step === 'migrate-first-company');
  const obtainedAt = new Date().toISOString();
  const supplied = companies.map(({ row: { reference }, credential }) => ({
    reference,
    fields: new Secret(credential),
    obtainedAt,
  }));
  await supplyCredentials(ferry.db, id, supplied, CLIENT.by);
  await applyDecision(ferry, id, 'credentialsSupplied', { companies: rows.length, ...CLIENT });
  await waitForProgress(ferry, id, ({ firstCompany }) => firstCompany?.stage === 'verified');
  return id;
}

/** Waits until client and support can sign off the migration, signs off, and waits until it has ended. */
export async function signOff(ferry: LedgerClient, id: string): Promise<void> {
  await waitForProgress(ferry, id, ({ waitingFor }) => waitingFor.roles.length === 2);
  await applyDecision(ferry, id, 'approve', { step: 'complete-migration', ...SUPPORT });
  await applyDecision(ferry, id, 'approve', { step: 'complete-migration', ...CLIENT });
  await ferry.temporal.workflow.getHandle(id).result();
}

/** Sends a decision, and expects that it is applied. */
export async function applyDecision(
  ferry: LedgerClient,
  id: string,
  message: DecisionMessage,
  decision: Parameters<typeof decide>[3],
): Promise<void> {
  const { outcome, text } = await decide(ferry, id, message, decision);
  expect({ message, outcome, text }).toMatchObject({ outcome: 'applied' });
}
