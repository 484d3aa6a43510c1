/** Sends a manifest in parts, and the signed decision about it. */
import type { ManifestRow } from '../../domain/companies/manifest';
import { digestedRow } from '../../domain/supply/supplied-rows';
import { counted } from '../../domain/text/sentences';
import type { RequestAnswer } from '../contract/requests';
import type { DecisionFields } from './decisions';

/** The largest number of rows in one request. */
const PART = 1_000;

/** Returns the digest of all rows, which the decision about them contains. */
export async function manifestDigest(rows: readonly ManifestRow[]): Promise<string> {
  const bytes = new TextEncoder().encode(rows.map(digestedRow).join(''));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The functions that send the parts and the decision, and show the progress. */
export interface ManifestTransport {
  readonly submit: (path: '/api/manifest', body: unknown) => Promise<RequestAnswer>;
  /** Signs and sends a decision. */
  readonly decide: (decision: DecisionFields) => Promise<RequestAnswer>;
  readonly say: (text: string) => void;
  /** @param share from 0 to 1 */
  readonly progress: (share: number) => void;
}

/**
 * Sends the rows, then the decision that supplies them. A part that was sent twice, because the connection was lost, is
 * stored once.
 *
 * @param rows at least one
 * @param fields further fields of the decision, in addition to those that identify the manifest
 */
export async function supplyManifest(
  rows: readonly ManifestRow[],
  fields: Readonly<Record<string, unknown>>,
  { submit, decide, say, progress }: ManifestTransport,
): Promise<RequestAnswer> {
  const decisionId = crypto.randomUUID();
  for (let start = 0; start < rows.length; start += PART) {
    const part = rows.slice(start, start + PART);
    say(`Sending ${start + 1} to ${start + part.length} of ${counted(rows.length, 'company')}…`);
    const answer = await submit('/api/manifest', { decisionId, part: start / PART, rows: part });
    if (answer.outcome !== 'stored') return answer;
    progress((start + part.length) / rows.length);
  }
  const named = { companies: rows.length, manifestDigest: await manifestDigest(rows) };
  say('Waiting for the migration to answer…');
  return decide({ message: 'manifestSupplied', decisionId, fields: { ...fields, ...named } });
}
