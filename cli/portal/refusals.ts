/** Says why the portal does not offer a decision, and what the person can do instead. */
import type { MigrationView } from '../../portal/contract/migration-view';
import { approvedText } from '../../domain/decisions/preconditions';
import { isEnding } from '../../domain/migration/migration-state';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { isStep, STEP_RULES, STEPS, stepText, type Step } from '../../domain/migration/steps';
import { isOver } from '../../domain/migration/terminated';
import { CommandFailed } from '../shared/errors';
import { commandText, type PortalContext } from './context';
import { commandOf } from './summary';

/** A decision that a person has asked for. */
interface Asked {
  readonly message: DecisionMessage;
  /** Absent if the decision does not belong to a step, or if the person named none. */
  readonly step: string | undefined;
}

/** @throws CommandFailed if there is no such step */
export function assertStep(step: string | undefined): void {
  if (step !== undefined && !isStep(step))
    throw new CommandFailed(`there is no step ${step}`, `nothing was sent; the steps are: ${STEPS.join(', ')}`);
}

/** Returns the error about a decision that the portal does not offer. */
export function notOffered(context: PortalContext, asked: Asked, view: MigrationView): CommandFailed {
  return new CommandFailed(refusedText(asked, view), `nothing was sent; ${adviceFor(context, asked, view)}`);
}

function adviceFor(context: PortalContext, asked: Asked, view: MigrationView): string {
  if (isEnding(view.state)) return `see the outcome with: ${commandText(context, 'report', view.migrationId)}`;
  if (isOver(view.state)) return 'ask your contact what happens next';
  if (asked.message === 'applicationSupplied' && canReopenDetails(view)) {
    const reject = commandText(context, 'reject supply-details --reason "why"', view.migrationId);
    return `support has accepted the details. To change the application, first reject step 1 with: ${reject}`;
  }
  const support = helpOfSupport(asked, view);
  const who = view.route === 'self-service' ? 'your contact' : 'support';
  return `${support === null ? '' : `ask ${who} to ${support}, or `}see what you can decide with: ${commandText(context, 'show', view.migrationId)}`;
}

function canReopenDetails({ steps, actions }: MigrationView): boolean {
  const isAccepted = steps.some(({ step, state }) => step === 'supply-details' && state === 'done');
  return isAccepted && actions.some(({ message, step }) => message === 'reject' && step === 'supply-details');
}

/** Returns what support can do about a decision that the portal does not offer, or offers only at first. */
function helpOfSupport(asked: Asked, view: MigrationView): string | null {
  if (asked.message === 'manifestSupplied') return 'amend the manifest';
  if (asked.message === 'applicationSupplied') return 'register the application';
  return isForSupportOnly(asked, view) ? 'make this decision' : null;
}

/** The decisions that only support makes in a managed migration. */
export const OF_SUPPORT: readonly DecisionMessage[] = ['retry', 'relink', 'skip', 'adjust'];
/** The decisions that a self-service migration refuses, because it has nothing to approve, schedule or confirm. */
const OF_MANAGED: readonly DecisionMessage[] = ['approve', 'reject', 'proposeTime', 'confirmSyncDisabled'];

function isForSupportOnly({ message, step }: Asked, { route }: MigrationView): boolean {
  if (route !== 'managed') return false;
  return OF_SUPPORT.includes(message) || (isStep(step) && isStepOfSupport(message, step));
}

function isStepOfSupport(message: DecisionMessage, step: Step): boolean {
  const { actors, approvers } = STEP_RULES[step];
  if (message === 'approve') return approvers.length > 0 && !approvers.includes('client');
  return message === 'reject' && ![...actors, ...approvers].includes('client');
}

/** Says why a decision is not possible: `the portal does not offer "sign-off" now, in step 1 (supply details)`. */
function refusedText(asked: Asked, view: MigrationView): string {
  const { message, step } = asked;
  const command = commandOf({ message, ...(step === undefined ? {} : { step }) }, view) ?? message;
  const isAboutStep = message === 'approve' || message === 'reject';
  const [name = message] = isAboutStep ? [command.replace(/ --.*$/, '')] : command.split(' ');
  if (view.route === 'self-service' && OF_MANAGED.includes(message))
    return `a self-service migration does not need "${name}"`;
  if (isForSupportOnly(asked, view))
    return isAboutStep && isStep(step)
      ? `only support can ${message} ${stepText(step)}`
      : `in a managed migration, only support can use "${name}"`;
  // Says "stopped", because the workflow of a terminated migration can also have failed.
  const ending = view.state === 'terminated' ? 'stopped' : view.state;
  if (isOver(view.state)) return `the portal no longer offers "${name}", because the migration was ${ending}`;
  if (message === 'approve' && step === 'disable-syncing')
    return `${stepText(step)} needs no approval, because it ends once you have confirmed that syncing is off`;
  const repeated = repeatedText(asked, view);
  if (repeated !== null) return repeated;
  const open = openStep(view);
  const where = open === undefined ? '' : `, in step ${open.number} (${open.title.toLowerCase()})`;
  return `the portal does not offer "${name}" now${where}`;
}

const openStep = ({ steps }: MigrationView) => steps.find((each) => each.state === 'open');

/** Says that the decision has been made already, or that nothing is left to decide; null if it is not offered yet. */
function repeatedText({ message, step }: Asked, view: MigrationView): string | null {
  const { counts, state, steps } = view;
  switch (message) {
    case 'approve': {
      const asked = step === undefined ? openStep(view) : steps.find((each) => each.step === step);
      if (!asked || !isStep(asked.step)) return null;
      const earlier = asked.approvals.find(({ role }) => role === 'client');
      if (earlier) return approvedText({ step: asked.step, role: 'client', by: earlier.by });
      return asked.state === 'done' ? `${stepText(asked.step)} has already ended` : null;
    }
    case 'confirmSyncDisabled':
      // Companies that are held back are not counted as unconfirmed, so step 4 must have ended as well.
      return counts.unconfirmed > 0 || steps.find((each) => each.step === 'disable-syncing')?.state !== 'done'
        ? null
        : 'no company is waiting for this confirmation: all companies that can move are already confirmed';
    case 'pause':
      return state === 'paused' ? 'the client has already paused the migration' : null;
    case 'resume':
      return state === 'paused'
        ? 'only support can resume a migration that paused itself'
        : 'the migration is not paused';
    default:
      return null;
  }
}
