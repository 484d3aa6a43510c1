/** Compares what is staged for a decision with the digest in it, which the client has signed. */
import type { DecisionRecord } from '../../domain/migration/migration-state';
import type { Queryable } from '../../store';
import {
  discardSealedApplication,
  discardStaged,
  discardStagedManifest,
  readStagedApplicationDigest,
  readStagedDigest,
} from '../../store';

/** Returns why a decision is refused if other boxes are staged for it than it names; null if they are the same. */
export async function exchangeRefusal(
  tx: Queryable,
  migrationId: string,
  decision: DecisionRecord['decision'],
): Promise<string | null> {
  if (!('sealedDigest' in decision)) return null;
  const { decisionId, kind, sealedDigest } = decision;
  if (kind === 'application-supplied')
    return (await readStagedApplicationDigest(tx, migrationId, decisionId)) === sealedDigest
      ? null
      : `the encrypted client secret that arrived is not the one that this decision is about, so it is not used; ${AGAIN}`;
  const replaces = kind === 'replace-credential';
  return (await readStagedDigest(tx, migrationId, { decisionId, replaces })) === sealedDigest
    ? null
    : `the encrypted credentials that arrived are not those that this decision is about, so none of them is used; ${AGAIN}`;
}

const AGAIN = 'supply again, and tell support if this happens twice';

/** Deletes the credentials, the application and the manifest that are staged for a decision. */
export async function discardSupply(tx: Queryable, migrationId: string, decisionId: string): Promise<void> {
  await discardStaged(tx, migrationId, decisionId);
  await discardSealedApplication(tx, migrationId, decisionId);
  await discardStagedManifest(tx, migrationId, decisionId);
}
