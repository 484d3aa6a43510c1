/**
 * The migration's page in the Temporal UI, for a client who has never seen Temporal.
 *
 * It uses the client's words (`CLIENT_STATES`) and no internal ones. Plain Markdown lists only, because tables and
 * emoji do not render in every version of the UI.
 */
import type { Estimate } from '../../domain/planning/estimate';
import { isEnding } from '../../domain/migration/migration-state';
import { duration, moment, counted, oneLine } from '../../domain/text/sentences';
import { headline } from '../../domain/progress/progress';
import { findPlatform } from '../../platforms/platforms';
import type { Progress, StepProgress } from '../../domain/progress/progress';
import { STEP_RULES, stepNumber } from '../../domain/migration/steps';
import { BOTTOM_PADDING, companiesText } from './page-parts';

/** The longest name and the longest other text by a person that are shown in full. Characters. */
const NAME_LENGTH = 60;
const TEXT_LENGTH = 1_000;

/** Returns the current details of a migration, as Markdown: about 2 KB. Temporal's limit is 20 KB. */
export function currentDetails(progress: Progress): string {
  const platform = findPlatform(progress.platformKey)?.name ?? progress.platformKey;
  return [
    `# ${platform}: ${headline(progress)}`,
    ...waitingText(progress),
    ...companiesText(progress.counts),
    ...estimateText(progress),
    ...stepsText(progress),
    '## Questions',
    [
      `- **Who to call:** ${oneLine(progress.contact, TEXT_LENGTH)}`,
      `- **What may be switched on again:** ${switchOnText(progress)}`,
      `- **How long data is out of date:** ${outOfDateText(progress)}`,
    ].join('\n'),
    BOTTOM_PADDING,
  ].join('\n\n');
}

function stepsText({ route, steps }: Progress): string[] {
  return route === 'self-service' ? [] : ['## The six steps', steps.map(stepLine).join('\n')];
}

function waitingText({ waitingFor, waitingSince, migrationId, contact }: Progress): string[] {
  const what = oneLine(waitingFor.what, TEXT_LENGTH);
  if (waitingFor.roles.length === 0) return [`**Now:** ${what}`];
  const since = waitingSince ? `, since ${moment(waitingSince)}` : '';
  return [
    `**Waiting for:** ${waitingFor.roles.join(' and ')}${since}`,
    `**What to do:** ${what}`,
    `**How:** tell ${oneLine(contact, TEXT_LENGTH)}, who records your decision; or run \`ferry show ${migrationId}\`, which lists the commands`,
  ];
}

function estimateText({ estimate, proposal }: Progress): string[] {
  return [
    ...(estimate && estimate.volume.companies > 0 ? [estimateLine(estimate, proposal !== null)] : []),
    ...(proposal
      ? [`**Start:** ${moment(proposal.startAt)}, proposed by ${oneLine(proposal.by, NAME_LENGTH)} (${proposal.role})`]
      : []),
  ];
}

function estimateLine(estimate: Estimate, hasStart: boolean): string {
  const { lowMs, highMs, ends } = estimate;
  const end = hasStart && ends ? `, ${endText(moment(ends.earliest), moment(ends.latest))}` : '';
  return `**Estimated duration:** ${duration(lowMs)} to ${duration(highMs)}${end} (${estimateBasisText(estimate)})`;
}

/** Returns when the last company is expected to be moved. The caller formats the two moments. */
export function endText(earliest: string, latest: string): string {
  return earliest === latest ? `finishes at ${latest}` : `finishes between ${earliest} and ${latest}`;
}

/** Returns which measurements an estimate is based on. */
export function estimateBasisText({ basis, measuredOn }: Estimate): string {
  const companies = counted(measuredOn, 'company');
  switch (basis) {
    case 'assumed':
      return 'before any measurement';
    case 'platform':
      return `as last measured on ${companies} of this platform`;
    case 'migration':
      return `measured on ${companies} of this migration`;
  }
}

function stepLine({ step, state, openedAt, endedAt, approvals }: StepProgress): string {
  const rules = STEP_RULES[step];
  const mark = { done: '**done**', open: '**now**', later: 'later' }[state];
  const who = [...new Set([...rules.actors, ...rules.approvers])].join(' and ');
  const times = endedAt
    ? `, ended ${moment(endedAt)}`
    : state === 'open' && openedAt
      ? `, since ${moment(openedAt)}`
      : '';
  const approved =
    approvals.length > 0
      ? `, approved by ${approvals.map(({ role, by }) => `${oneLine(by, NAME_LENGTH)} (${role})`).join(', ')}`
      : '';
  return `${stepNumber(step)}. ${rules.title} (${who}): ${mark}${times}${approved}`;
}

function switchOnText({ route, step, state, counts }: Progress): string {
  if (state === 'completed') {
    if (counts.migrated === counts.total) return 'nothing: every company was moved and must stay off.';
    return 'see the handover report for each company. Those that were moved must stay off.';
  }
  if (state === 'abandoned' || state === 'cancelled')
    return 'ask the contact above first: companies that were moved must stay off.';
  if (route !== 'self-service' && stepNumber(step) < stepNumber('disable-syncing'))
    return 'nothing has to be switched off yet.';
  return 'nothing for now. A company that is moving or moved must never be switched on again in your own application.';
}

function outOfDateText({ route, estimate, proposal, step, state }: Progress): string {
  if (state === 'completed') return 'no longer: the service syncs all companies that were moved.';
  if (isEnding(state)) return 'companies that were not moved stay out of date until you switch them on again.';
  if (route === 'self-service') return 'each company, from its move until its first sync is complete.';
  if (!estimate) return 'estimated in step 2.';
  const from =
    stepNumber(step) < stepNumber('disable-syncing')
      ? 'from the moment syncing is disabled'
      : 'since syncing was disabled';
  if (estimate.volume.companies === 0) return 'no longer, for the companies that were moved.';
  const until =
    proposal && estimate.ends ? moment(estimate.ends.latest) : `${duration(estimate.highMs)} after the start`;
  const hours = estimate.darkHours === null ? '' : `: up to ${counted(estimate.darkHours, 'hour')}`;
  return `${from} until about ${until}${hours}.`;
}
