/** Tells the client that the four-eyes rule requires another person to approve the open step. */
import { countOpen } from '../../domain/companies/counts';
import { excludedClients, needsAnotherApprover } from '../../domain/progress/four-eyes';
import type { Progress } from '../../domain/progress/progress';
import { eitherOf, momentText, sentence } from '../../domain/text/sentences';

/** The consequence of the four-eyes rule for the client's approval of the open step, in clauses. */
interface OtherApprover {
  readonly must: string;
  /** The request to support, if the rule excludes every person who decides for the client; otherwise null. */
  readonly ask: string | null;
}

/**
 * Returns who else must approve the open step for the client, and what to ask of support if nobody else can; null if
 * the migration does not wait for the client's approval, or if the four-eyes rule excludes no person of the client.
 *
 * @param now ISO 8601, UTC
 */
export function otherApprover(progress: Progress, now: string): OtherApprover | null {
  const { state, step, waitingFor } = progress;
  const approval = approvalText(progress, now);
  if (state !== 'waiting' || !waitingFor.roles.includes('client') || approval === null) return null;
  const excluded = excludedClients(progress, step);
  if (excluded.length === 0) return null;
  const propose = step === 'schedule' ? ', or to propose another time' : '';
  return {
    must: `under the four-eyes rule, someone other than ${eitherOf(excluded)} must ${approval} for you`,
    ask: needsAnotherApprover(progress, step, 'client') ? `${ASK_FOR_ANOTHER}${propose}` : null,
  };
}

/** Asks for another person who decides for the client. An invited person decides once support has confirmed the key. */
export const ASK_FOR_ANOTHER = "ask support to invite another person or to confirm another person's key";

function approvalText({ step, proposal, counts }: Progress, now: string): string | null {
  switch (step) {
    case 'schedule':
      if (proposal === null) return null;
      return `approve the start${proposal.startAt > now ? ` at ${momentText(proposal.startAt)}` : ''}`;
    case 'update-application':
      return 'confirm the callback URL';
    case 'complete-migration':
      return countOpen(counts) === 0 ? 'sign off the handover' : null;
    case 'supply-details':
    case 'disable-syncing':
    case 'migrate-first-company':
      return null;
  }
}

/**
 * Returns sentences that ask the client for its approval, with the consequence of the four-eyes rule. If nobody can
 * approve for the client, the sentences ask for what helps instead.
 *
 * @param now ISO 8601, UTC
 */
export function askForApproval(progress: Progress, text: string, now: string): string {
  const other = otherApprover(progress, now);
  if (other === null) return text;
  const must = `${sentence(other.must)}.`;
  return other.ask === null ? `${text} ${must}` : `${must} Please ${other.ask}.`;
}
