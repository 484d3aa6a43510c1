/**
 * Decisions that a person has signed, in the browser or with `ferry --portal`. The worker checks them before it sends
 * them, because the portal could have changed them, and because a migration without approvers accepts unsigned
 * decisions by anyone.
 */
import { isPublicKey } from '../../domain/migration/approvers';
import { isDecisionMessage, parseDecision, type DecisionMessage } from '../../domain/migration/parse-decision';
import { isSignedBy, parseSigned } from '../../domain/migration/signatures';
import { counted, oneLine } from '../../domain/text/sentences';
import { findInapplicable, sendSigned, type SignedDecision } from '../../client';
import { DecideSchema, type RequestAnswer } from '../../portal/contract/requests';
import type { PortalRequest } from '../../store';
import { AGAIN_AFTER_MS, failed, type PortalContext } from './context';

/** Checks a decision and sends it. Returns null if its outcome is not known yet. */
export async function decide(context: PortalContext, request: PortalRequest): Promise<RequestAnswer | null> {
  const parsed = DecideSchema.safeParse(request.body);
  if (!parsed.success) return failed('the decision is malformed; reload the page, or update ferry');
  const { message, decision } = parsed.data;
  if (!isDecisionMessage(message))
    return failed(
      "nothing was decided, because the provider's system does not know this kind of decision; try again in a few minutes, and if this happens again, tell your contact",
    );
  if (message === 'applicationSupplied') return failed('supply the application together with its client secret');
  const refusal = decisionRefusal(request, message, decision);
  if (refusal !== null) return failed(refusal);
  if (SUPPLIES.includes(message) && decision['sealedDigest'] === undefined)
    return failed('the signed decision does not say which credentials it supplies; reload the page, or update ferry');
  const inapplicable = await inapplicableText(context, request, message, decision);
  if (inapplicable !== null) return failed(inapplicable);
  return send(context, request, message, decision);
}

const MAX_NAMED = 5;

/**
 * Returns a text that names the companies to which the decision does not apply; null if the decision applies to all
 * companies that it names, or may have been sent already.
 */
async function inapplicableText(
  { ferry: { db } }: PortalContext,
  { migrationId, createdAt, attempts }: PortalRequest,
  message: DecisionMessage,
  { companies }: SignedDecision,
): Promise<string | null> {
  const isFirstAttempt = attempts === 1 && Date.now() - createdAt.getTime() < AGAIN_AFTER_MS;
  if (!isFirstAttempt || !Array.isArray(companies)) return null;
  const { unknown, wrongState } = await findInapplicable(db, migrationId, message, companies.map(String));
  if (unknown.length > 0) {
    // A reference can contain commas, but a comma is more often a separator.
    const advice = unknown.some((reference) => reference.includes(','))
      ? '; on the page, write one reference per line; in a command, write spaces between references'
      : '';
    return `nothing was decided, because the manifest does not contain ${named(unknown)}${advice}`;
  }
  if (wrongState.length === 0) return null;
  const without = wrongState.length === 1 ? 'this company' : 'these companies';
  const advice = wrongState.length < companies.length ? `; make the decision again without ${without}` : '';
  return `nothing was decided, because the decision does not apply to ${named(wrongState)}${advice}`;
}

function named(companies: readonly string[]): string {
  const more = companies.length - MAX_NAMED;
  const shown = companies.slice(0, MAX_NAMED).map((text) => (text.includes(',') ? `"${text}"` : text));
  return shown.join(', ') + (more > 0 ? ` and ${counted(more, 'other')}` : '');
}

/** The decisions that must contain the digest of the credentials, so that the portal cannot replace the credentials. */
const SUPPLIES: readonly DecisionMessage[] = ['credentialsSupplied', 'replaceCredential'];

export async function send(
  { ferry }: PortalContext,
  { migrationId }: PortalRequest,
  message: DecisionMessage,
  decision: SignedDecision,
): Promise<RequestAnswer | null> {
  const { outcome, text } = await sendSigned(ferry, migrationId, message, decision);
  return outcome === 'recorded' ? null : { outcome, text };
}

/**
 * Refuses people until support has confirmed their key, because a person who has intercepted an invitation could
 * otherwise decide.
 */
export const KEY_NOT_CONFIRMED =
  "support has not confirmed your key yet: call your contact, and read out the key's fingerprint, which the page shows";

/** Returns why the decision is not accepted from the person who was invited; null if it is accepted. */
export function decisionRefusal(
  { migrationId, person, role, publicKey, isKeyConfirmed }: PortalRequest,
  message: DecisionMessage,
  decision: SignedDecision,
): string | null {
  if (role !== 'client') return `the invitation of ${person} is read-only`;
  if (!isPublicKey(publicKey)) return 'the invitation has no signing key; ask your contact for a new invitation';
  if (!isKeyConfirmed) return KEY_NOT_CONFIRMED;
  if (decision.by !== person || decision.role !== role)
    return `the invitation belongs to ${person} (${role}), but the decision was made as ${oneLine(decision.by, 200)} (${decision.role})`;
  const signed = parseSigned(message, decision);
  if (signed?.signature.publicKey !== publicKey)
    return 'the decision is signed with a key that does not belong to the invitation; sign in again, and then make the decision again';
  if (!isSignedBy(publicKey, migrationId, signed))
    return 'the signature does not match: the decision was changed, or it was signed for another migration; make the decision again, and tell your contact if this happens twice';
  const parsed = parseDecision(message, decision, () => decision.decisionId);
  return 'malformed' in parsed ? parsed.malformed : null;
}
