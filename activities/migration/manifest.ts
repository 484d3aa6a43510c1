/** Checks the staged rows of a manifest that a decision supplies, and replaces all companies with them. */
import type { ManifestSupplied } from '../../domain/migration/decision';
import { organizationKey } from '../../domain/preflight/organization-conflicts';
import { counted, oneLine } from '../../domain/text/sentences';
import {
  findTakenOrganizations,
  lockUntouchedCompanies,
  ManifestDigest,
  readStagedManifest,
  replaceManifest,
  type Database,
  type Queryable,
} from '../../store';

/** Maximum number of companies that a refusal names. */
const MAX_LISTED = 5;

/**
 * Locks the companies of the migration, and returns why the staged rows cannot replace them; null if they can. The text
 * names no other migration, because the client reads it.
 */
export async function stagedManifestRefusal(
  tx: Database,
  migrationId: string,
  platformKey: string,
  decision: ManifestSupplied,
): Promise<string | null> {
  const problem = await manifestProblem(tx, migrationId, decision);
  if (problem !== null) return problem;
  if (!(await lockUntouchedCompanies(tx, migrationId)))
    return 'companies have been moved, tried or left out, so the manifest cannot be replaced; support can amend it';
  const rows = readStagedManifest(tx, migrationId, decision.decisionId);
  const taken = await findTakenOrganizations(tx, { id: migrationId, platformKey }, rows);
  if (taken.length === 0) return null;
  const listed = taken.slice(0, MAX_LISTED).map(({ reference }) => oneLine(reference, 100));
  const more = taken.length > listed.length ? ` and ${taken.length - listed.length} more` : '';
  const [have, these] = taken.length === 1 ? ['has', 'this company'] : ['have', 'these companies'];
  const orAsk = decision.role === 'support' ? '' : ', or ask support';
  return `${counted(taken.length, 'company')} (${listed.join(', ')}${more}) ${have} an organization that is already part of another open migration; remove ${these} from the manifest${orAsk}`;
}

/** The usual reason: staging a manifest deletes the rows that the same person has staged for another decision. */
const SENT_TWICE =
  'which happens if the same person sends a manifest from two tabs or commands at once; supply the manifest again, from only one of them';

/** Returns why the staged rows do not match the decision, or that they contain duplicates; null if neither is so. */
export async function manifestProblem(
  tx: Queryable,
  migrationId: string,
  decision: ManifestSupplied,
): Promise<string | null> {
  const digest = new ManifestDigest();
  const references = new Set<string>();
  const organizations = new Set<string>();
  let companies = 0;
  let isInOrder = true;
  for await (const row of readStagedManifest(tx, migrationId, decision.decisionId)) {
    companies += 1;
    // Reading more rows than the decision states could exceed the activity's timeout.
    if (companies > decision.companies) break;
    isInOrder &&= row.row === companies;
    references.add(row.reference);
    organizations.add(organizationKey(row.organization));
    digest.add(row);
  }
  if (companies === 0) return `the rows of the manifest have not arrived, ${SENT_TWICE}`;
  if (!isInOrder || companies !== decision.companies || digest.hex() !== decision.manifestDigest)
    return `the manifest did not arrive as it was sent, ${SENT_TWICE}`;
  return references.size < companies || organizations.size < companies
    ? 'the manifest contains a reference or an organization more than once; correct the manifest, and supply it again'
    : null;
}

/**
 * Replaces all companies. Call it after {@link stagedManifestRefusal}, in the same transaction.
 *
 * @returns the text of the outcome
 */
export async function applyManifest(
  tx: Database,
  migrationId: string,
  decision: ManifestSupplied,
  text: string,
): Promise<string> {
  const discarded = await replaceManifest(tx, migrationId, decision);
  return discarded === 0
    ? text
    : `${text}; this deleted ${counted(discarded, 'stored credential')}, so supply the credentials again`;
}
