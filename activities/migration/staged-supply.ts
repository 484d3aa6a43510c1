/**
 * Checks the supply that is staged for a decision: the supply must match the digest in the decision, and a worker must
 * be able to open the credentials.
 */
import type { DecisionRecord } from '../../domain/migration/migration-state';
import { counted, namedCompanies } from '../../domain/text/sentences';
import { SealBroken, type VaultKeyWrapper } from '../../security';
import {
  discardSealedApplication,
  discardStaged,
  discardStagedManifest,
  readStagedApplicationDigest,
  readStaged,
  readStagedDigest,
  readVault,
  type Queryable,
  type StagedCredential,
  type VaultReader,
} from '../../store';

/**
 * Returns why a decision is refused if the sealed credentials or the sealed client secret that are staged for it do not
 * match its digest; null if they match, or if the decision has no digest.
 */
export async function exchangeRefusal(
  tx: Queryable,
  migrationId: string,
  decision: DecisionRecord['decision'],
): Promise<string | null> {
  if (!('sealedDigest' in decision)) return null;
  const { decisionId, kind, sealedDigest, role } = decision;
  const tellSupport = role === 'support' ? '' : ', and tell support if this happens twice';
  if (kind === 'application-supplied')
    return (await readStagedApplicationDigest(tx, migrationId, decisionId)) === sealedDigest
      ? null
      : `the encrypted client secret did not arrive, or does not match this decision, so it is not used; supply the client secret again${tellSupport}`;
  const replaces = kind === 'replace-credential';
  return (await readStagedDigest(tx, migrationId, { decisionId, replaces })) === sealedDigest
    ? null
    : `the encrypted credentials did not all arrive, or do not match this decision, so no credential is used; supply the credentials again${tellSupport}`;
}

const REFERENCES_SHOWN = 5;

/**
 * Opens the credentials that are staged for a decision, and discards the opened copies immediately. If credentials were
 * altered or replaced, the person who supplies them learns this in the same command, or on the same page, and not only
 * when their companies are moved, hours or weeks later. A worker does this, because `ferry` and the portal's server
 * cannot open credentials.
 *
 * @returns why the decision is refused; null if it supplies no credentials, if all of them can be opened, or if this
 *   worker cannot open the vault
 */
export async function unopenableRefusal(
  tx: Queryable,
  keys: VaultKeyWrapper,
  migrationId: string,
  { decisionId, kind }: DecisionRecord['decision'],
): Promise<string | null> {
  if (kind !== 'credentials-supplied' && kind !== 'replace-credential') return null;
  // A missing vault secret or master key is reported elsewhere, and does not mean that a credential is broken.
  const vault = await readVault(tx, keys, migrationId).catch(() => null);
  if (vault === null) return null;
  const broken: string[] = [];
  let total = 0;
  for await (const group of readStaged(tx, migrationId, { decisionId, replaces: kind === 'replace-credential' })) {
    total += group.length;
    for (const credential of group) if (!canBeOpened(vault, credential)) broken.push(credential.reference);
  }
  if (broken.length === 0) return null;
  const which = namedCompanies(broken.length, broken.slice(0, REFERENCES_SHOWN));
  return `${broken.length.toLocaleString('en-US')} of ${counted(total, 'credential')} cannot be opened, so no supplied credential is used. Affected: ${which}. A credential cannot be opened if it was altered, replaced, or sealed with another key. Supply the credentials again from the original file; if the file was sealed, seal it again first`;
}

function canBeOpened(vault: VaultReader, credential: StagedCredential): boolean {
  try {
    vault.open(credential);
    return true;
  } catch (error) {
    if (error instanceof SealBroken) return false;
    throw error;
  }
}

/** Deletes the credentials, the application and the manifest that are staged for a decision. */
export async function discardSupply(tx: Queryable, migrationId: string, decisionId: string): Promise<void> {
  await discardStaged(tx, migrationId, decisionId);
  await discardSealedApplication(tx, migrationId, decisionId);
  await discardStagedManifest(tx, migrationId, decisionId);
}
