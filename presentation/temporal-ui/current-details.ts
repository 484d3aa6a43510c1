/**
 * The migration's page in the Temporal UI, for a client who has never seen Temporal.
 *
 * It uses the client's words (`CLIENT_STATES`) and no internal terms. It contains no tables and no emoji, because not
 * every version of the UI renders them.
 */
import { clientStateWords } from '../../domain/companies/company-state';
import { isOfApplication } from '../../domain/companies/finding';
import { isEnding, type ReconnectLink } from '../../domain/migration/migration-state';
import { stageOf } from '../../domain/migration/terminated';
import { detailProblems, withPlace } from '../../domain/migration/preflight-result';
import { momentText } from '../../domain/text/sentences';
import { actingText, isOfSupport, withActingRoles } from '../../domain/progress/acting-roles';
import {
  endedByText,
  pausedTexts,
  reopenedText,
  type OverallState,
  type Progress,
  type StepProgress,
} from '../../domain/progress/progress';
import { findPlatform } from '../../platforms/platforms';
import { shouldCorrectApplication } from '../../domain/progress/meanwhile';
import { isMoveStep, STEP_RULES, stepNumber } from '../../domain/migration/steps';
import {
  beforeSignOff,
  outOfDateText,
  replacedNumberText,
  RESOLVE,
  switchOnText,
  taskOf,
  platformOf,
} from '../wording/client-page';
import { escapedMarkdown, markdownLink } from '../../domain/text/untrusted-text';
import { statusLine } from '../wording/status-line';
import { isPausedByPerson, meanwhileText, needsApplication } from '../wording/client-task';
import { deadlineLine, timesText, windowsLine } from './page-times';
import { BOTTOM_PADDING, companyLines, MAX_NAME_LENGTH, MAX_TEXT_LENGTH, untrustedText } from './page-parts';

const MAX_STATUS_LENGTH = 300;

/** Maximum number and length, in characters, of problems with the supplied details. `ferry show` lists all of them. */
const MAX_PROBLEMS = 10;
const MAX_PROBLEM_LENGTH = 300;

export interface PageFacts {
  /** ISO 8601, UTC. */
  readonly now: string;
  /** The links of some of the companies that must reconnect. Absent until they are read, after the end. */
  readonly reconnect?: readonly ReconnectLink[] | undefined;
}

/** Returns the current details of a migration, as Markdown: about 2 KB. Temporal's limit is 20 KB. */
export function currentDetails(current: Progress, { now, reconnect }: PageFacts): string {
  const progress = withActingRoles(current);
  return [
    `# ${untrustedText(statusLine(progress, platformOf(progress), now), MAX_STATUS_LENGTH)}`,
    ...taskText(progress, now),
    ...companyLines(progress.counts, wordsOf(progress), isEnding(progress.state)),
    ...reconnectText(progress, reconnect),
    ...timesText(progress, now),
    ...windowsLine(progress),
    ...deadlineLine(progress, now),
    ...stepsText(progress),
    '## Questions',
    [
      `- **Who to call:** ${untrustedText(progress.contact, MAX_TEXT_LENGTH)}`,
      `- **What may be switched back on:** ${switchOnText(progress)}`,
      `- **How long data is out of date:** ${staleText(progress, now)}`,
    ].join('\n'),
    `Written at ${momentText(now)}. The page is updated when something changes; reload it to see the latest version.`,
    BOTTOM_PADDING,
  ].join('\n\n');
}

function staleText(progress: Progress, now: string): string {
  const replaced = replacedNumberText(progress);
  return [outOfDateText(progress, now), ...(replaced === null ? [] : [replaced])].join(' ');
}

/** Returns the final details of a workflow run that continues as new. Its page does not change after that. */
export function continuedDetails({ contact }: Pick<Progress, 'contact'>): string {
  return [
    '# This page is out of date: the migration continues on a new page',
    `Ask ${untrustedText(contact, MAX_TEXT_LENGTH)} for the new link.`,
    BOTTOM_PADDING,
  ].join('\n\n');
}

const isSignedOff = ({ state, route }: Progress): boolean => state === 'completed' && route === 'managed';

/** Returns the words for the states of companies. By signing off, support accepts what was not moved. */
function wordsOf(progress: Progress): ReturnType<typeof clientStateWords> {
  const words = clientStateWords(stageOf(progress.state));
  return isSignedOff(progress) ? { ...words, 'not-moved': 'not moved, which support has accepted' } : words;
}

function stepsText({ route, steps, state }: Progress): string[] {
  return route === 'self-service' ? [] : ['## The six steps', steps.map((each) => stepLine(each, state)).join('\n')];
}

/** Returns who has to act, since when, and how; once the migration has ended, where the report is. */
function taskText(progress: Progress, now: string): string[] {
  const { state, waitingFor, waitingSince } = progress;
  if (isEnding(state)) {
    const ended = endedByText(progress);
    const how = state === 'cancelled' ? 'Cancelled' : 'Ended';
    return [
      ...(ended === null ? [] : [`**${how}:** ${escapedMarkdown(ended)}`]),
      `**Handover report:** ${reportText(progress)}`,
    ];
  }
  const reopened = reopenedText(progress);
  const reason = [
    ...pausedTexts(progress).map((paused) => `**Paused:** ${escapedMarkdown(paused)}`),
    ...(reopened === null ? [] : [escapedMarkdown(reopened)]),
  ];
  const { roles } = waitingFor;
  const meanwhile = meanwhileText(progress) === null ? [] : [`**How:** ${howText(progress)}`];
  if (roles.length === 0) {
    return [...reason, ...meanwhile];
  }
  const signOff = beforeSignOff(progress);
  const since = waitingSince ? `, since ${momentText(waitingSince)}` : '';
  return [
    ...reason,
    `**Waiting for:** ${actingText(progress)}${since}`,
    ...actionText(progress, now),
    ...(signOff === null ? [] : [`**Before you sign off:** ${untrustedText(signOff, MAX_TEXT_LENGTH)}`]),
    ...(roles.includes('client') ? [`**How:** ${howText(progress)}`] : meanwhile),
  ];
}

const FOR_SUPPORT = '**What support has to do:**';

function actionText(progress: Progress, now: string): string[] {
  const label =
    progress.waitingFor.roles.includes('client') || isPausedByPerson(progress) ? '**What to do:**' : FOR_SUPPORT;
  const { what, problems, forSupport, ofSupport } = taskOf(progress, now);
  const command = `to list all of them, run: ferry exceptions ${progress.migrationId}`;
  const forClient =
    progress.route === 'self-service' ? command : 'the portal lists all of them; without it, ask support';
  return [
    ...taskLines(label, what, withPlace(problems, label === FOR_SUPPORT ? command : forClient)),
    ...(forSupport ? taskLines(FOR_SUPPORT, RESOLVE, withPlace(forSupport, command)) : []),
    ...(ofSupport === undefined ? [] : taskLines(FOR_SUPPORT, ofSupport, [])),
  ];
}

function taskLines(label: string, what: string, problems: readonly string[]): string[] {
  if (problems.length === 0) return [`${label} ${untrustedText(what, MAX_TEXT_LENGTH)}`];
  const lines = problems.slice(0, MAX_PROBLEMS).map((problem) => `- ${untrustedText(problem, MAX_PROBLEM_LENGTH)}`);
  const more = problems.length > MAX_PROBLEMS ? [`- and ${problems.length - MAX_PROBLEMS} more`] : [];
  return [`${label} ${what}`, [...lines, ...more].join('\n')];
}

/**
 * Returns how the client can act. Names `ferry show` only in self-service, because the commands that it lists need the
 * ledger, to which other clients have no access.
 */
function howText(progress: Progress): string {
  const { route, migrationId, contact } = progress;
  const who = untrustedText(contact, MAX_TEXT_LENGTH);
  const commands = `run \`ferry show ${migrationId}\`, which lists the commands`;
  const never = 'never send tokens or secrets by email, chat or phone before ferry seal has encrypted them';
  if (route === 'self-service') return `${commands}${needsSecret(progress) ? `; ${never}` : ''}; for help, ask ${who}`;
  const manifest = manifestText(progress, who);
  // A decision that must be signed can only be made with the client's own key. No other instruction is needed, because
  // the portal also accepts the manifest, the secret and the credentials.
  if (progress.signing.mustSign.includes('client'))
    return `use the portal, or ferry with your signing key${needsSecret(progress) ? `; ${never}` : ''}; for help, ask ${who}`;
  if (!needsSecret(progress)) return manifest ?? `tell ${who}, who will record your decision`;
  const isSecret = progress.step === 'supply-details' || shouldCorrectApplication(progress);
  const file = isSecret ? 'secret.txt' : 'credentials.csv';
  const content = isSecret
    ? `write the client secret of your application, and nothing else, to the file ${file}`
    : `save the credentials in the file ${file}`;
  const environment = environmentOf(progress);
  const options = isSecret ? ` --client-id "<id>" --environment ${environment ?? 'production'}` : '';
  const orSandbox =
    isSecret && environment === null
      ? ' (with `--environment sandbox` if the application is registered in the sandbox)'
      : '';
  const seal = `${content}; ask support for the migration key and save it in the file migration.key; run \`ferry seal ${file} --for migration.key${options}\`${orSandbox}, and send support only the sealed file`;
  return `${manifest === null ? '' : `${manifest}; `}${isSecret ? '' : exportText(progress)}${seal}; ${never}; for help, ask ${who}`;
}

/**
 * Returns the environment of the client's application: the platform's own environment or, if the platform has several,
 * that of the registered application; null if it is not known.
 */
function environmentOf({ platformKey, preflight }: Progress): 'production' | 'sandbox' | null {
  const environment = findPlatform(platformKey)?.environment ?? preflight?.application?.environment;
  if (environment === undefined) return null;
  return environment === 'sandbox' ? 'sandbox' : 'production';
}

/** Returns how the client can supply or correct the manifest; null if the manifest has no problem. */
function manifestText({ step, preflight }: Progress, who: string): string | null {
  if (step !== 'supply-details' || preflight === null) return null;
  if (detailProblems(preflight).isManifestMissing)
    return `open the portal with the link from support and choose the manifest there, or send ${who} the manifest without tokens`;
  // Every other problem that the client can solve is in a row of the manifest.
  const isWrong = preflight.problemCodes.some((code) => !isOfSupport(code) && !isOfApplication(code));
  return isWrong
    ? `open the portal with the link from support and replace the manifest there, or send ${who} the corrected manifest without tokens`
    : null;
}

/**
 * Returns the instruction to export the credentials after the confirmation; empty on platforms where syncing does not
 * invalidate an exported token.
 */
function exportText({ platformKey }: Progress): string {
  const rotation = findPlatform(platformKey)?.rotation ?? 'none';
  return rotation === 'none' || rotation === 'kept'
    ? ''
    : 'export the credentials after you have confirmed that syncing is off; ';
}

function needsSecret(progress: Progress): boolean {
  const { step, counts } = progress;
  if (shouldCorrectApplication(progress)) return true;
  if (step !== 'supply-details') return counts.withoutCredential > 0 && isMoveStep(step);
  return needsApplication(progress);
}

/**
 * Returns where the report is. A client whose decisions must be signed almost always has the portal; if it signs with
 * a key of its own instead, it asks its contact. Other clients may have a link to the portal that only lets them look.
 * The workflow does not know whether they have one.
 */
function reportText({ route, migrationId, contact, signing }: Progress): string {
  const lists = 'It lists every company.';
  const contactText = untrustedText(contact, MAX_TEXT_LENGTH);
  if (route === 'self-service')
    return `create it with \`ferry report ${migrationId}\`, or ask ${contactText} for it. ${lists}`;
  return signing.mustSign.includes('client')
    ? `create it in the portal, or ask ${contactText} for it. ${lists}`
    : `create it in the portal if you have a link to it, or ask ${contactText} for it. ${lists}`;
}

const RECONNECT_TITLE = '## Links to reconnect';

function reconnectText({ state, counts }: Progress, links: readonly ReconnectLink[] | undefined): string[] {
  if (!isEnding(state) || counts.mustReconnect === 0) return [];
  // The last decision ends the migration. The links are read from the ledger after that.
  if (links === undefined) return [RECONNECT_TITLE, 'The links are being collected. Reload this page in a minute.'];
  if (links.length === 0) return [];
  const lines = links.map(({ reference, name, url }) => {
    const company = [reference, name].map((text) => untrustedText(text, MAX_NAME_LENGTH)).join(', ');
    return `- ${company}: ${markdownLink(url)}`;
  });
  const more = counts.mustReconnect - links.length;
  return [
    RECONNECT_TITLE,
    'Send the end customer of each company its link. The end customer opens the link and connects the company again.',
    [...lines, ...(more > 0 ? [`- and ${more} more in the handover report`] : [])].join('\n'),
  ];
}

function stepLine({ step, state, openedAt, endedAt, approvals }: StepProgress, overall: OverallState): string {
  const rules = STEP_RULES[step];
  const marks = isEnding(overall)
    ? { open: '**ended here**', later: 'not reached' }
    : { open: '**now**', later: 'later' };
  const mark = { done: '**done**', ...marks }[state];
  const who = [...new Set([...rules.actors, ...rules.approvers])].join(' and ');
  const since = state === 'open' && openedAt ? `, since ${momentText(openedAt)}` : '';
  const times = endedAt ? `, ended ${momentText(endedAt)}` : since;
  const approved =
    approvals.length > 0
      ? `, approved by ${approvals.map(({ role, by }) => `${untrustedText(by, MAX_NAME_LENGTH)} (${role})`).join(', ')}`
      : '';
  return `${stepNumber(step)}. ${rules.title} (${who}): ${mark}${times}${approved}`;
}
