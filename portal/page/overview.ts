/** Renders the overview: what is happening, what the client has to do, and the progress of the migration. */
import { stateLabel, titleOf, type CompanyState } from '../client/api';
import { CONFIRM_KEY, headlineFor, namedFor } from '../client/personal-texts';
import type { MigrationView } from '../contract/migration-view';
import { counted } from '../../domain/text/sentences';
import { canDecide, isUnconfirmed, mustConfirmKey, type App } from './app';
import { openAction } from './decisions/actions';
import { sentence } from './elements/dialog';
import { button, buttonRow, el, hint, paragraph, points, type Child } from './elements/elements';
import { distanceText, inReadersZone, spanText, timeText } from './elements/times';
import { reportButton } from './report';

/** The values of the view that a part of the page shows. */
type Shown<Names extends keyof MigrationView> = Pick<MigrationView, Names>;

export function renderSummary({
  migrationId,
  client,
  platform,
  headline,
  state,
  mustConfirm,
}: Shown<'migrationId' | 'client' | 'platform' | 'headline' | 'state'> & {
  readonly mustConfirm: boolean;
}): readonly Child[] {
  return [
    el('p', { class: 'kind' }, `Migration of ${platform.name} connections`),
    el('h1', { id: 'title' }, titleOf({ client, migrationId })),
    el('p', { class: 'lead' }, inReadersZone(headlineFor(headline, mustConfirm))),
    el('p', { class: 'unseen' }, `State: ${state}`),
  ];
}

export function renderTask(app: App): readonly Child[] {
  const { task, next, actions } = app.view();
  const isOnlyKeyDue = task === null && mustConfirmKey(app);
  const expected = actions.filter(({ isExpected }) => isExpected);
  return [
    el('h2', {}, taskTitle(app)),
    task && el('p', { class: 'what' }, inReadersZone(task.what)),
    isOnlyKeyDue && el('p', { class: 'what' }, CONFIRM_KEY),
    isOnlyKeyDue && hint('The section "Confirm your key by phone" says how.'),
    ...findings(null, task?.problems ?? []),
    task && paragraph(el('strong', {}, 'Why: '), task.why),
    task?.by != null &&
      el(
        'p',
        { class: 'deadline' },
        ...[el('strong', {}, 'Deadline: '), `${timeText(task.by)} (${distanceText(task.by)}). `],
        task.ifLate !== undefined && inReadersZone(task.ifLate),
      ),
    isUnconfirmed(app) &&
      expected.length > 0 &&
      hint('You can do this once support has confirmed your key. The section "Confirm your key by phone" says how.'),
    canDecide(app) &&
      expected.length > 0 &&
      buttonRow(
        ...expected.map((action, index) =>
          button(action.title, () => openAction(app, action), { class: index === 0 ? 'primary' : '' }),
        ),
      ),
    reportButton(app.view().state),
    task?.since != null && hint(`Open since ${timeText(task.since)}.`),
    next !== null &&
      el(
        'p',
        { class: 'next' },
        el('strong', {}, 'What comes next: '),
        inReadersZone(namedFor(app.session.role, next)),
      ),
  ];
}

/** Says who has to act. A viewer cannot act, so the task is the client's. */
function taskTitle(app: App): string {
  const isViewer = app.session.role === 'viewer';
  if (app.view().task === null && !mustConfirmKey(app))
    return `Nothing for ${isViewer ? 'the client' : 'you'} to do now`;
  return isViewer ? 'What the client needs to do' : 'What you need to do';
}

export const renderNotices = (notices: readonly string[]): readonly Child[] =>
  notices.length === 0
    ? []
    : [el('ul', { class: 'notices' }, ...notices.map((text) => el('li', {}, inReadersZone(text))))];

/** The counts that every view has. Only `retried` can be absent. */
type Counts = Omit<MigrationView['counts'], 'retried'>;

const PARTS: readonly { readonly count: keyof Counts; readonly state: CompanyState }[] = [
  { count: 'moved', state: 'moved' },
  { count: 'moving', state: 'moving' },
  { count: 'mustReconnect', state: 'must-reconnect' },
  { count: 'notMoved', state: 'not-moved' },
  { count: 'notMovedYet', state: 'not-moved-yet' },
  { count: 'leftOut', state: 'left-out' },
];

export function renderProgress({
  counts,
  end,
  start,
  windows,
  next,
  state,
}: Shown<'counts' | 'end' | 'start' | 'windows' | 'next' | 'state'>): readonly Child[] {
  // Once the migration has ended, `next` is null and no more companies move.
  const isMoving = next !== null && counts.notMovedYet + counts.moving > 0;
  return [
    el('h2', { id: 'progress-title' }, 'Progress'),
    ...(counts.total === 0 ? [paragraph(next === null ? NEVER_SUPPLIED : NO_COMPANIES)] : companyCounts(counts, state)),
    el(
      'dl',
      { class: 'facts' },
      (end !== null || isMoving) &&
        fact(
          'Expected end',
          end ? spanText(end.earliest, end.latest) : 'Not known yet.',
          end ? inReadersZone(end.basis) : undefined,
        ),
      start &&
        fact('Start', timeText(start.at), start.isAgreed ? undefined : `Proposed by ${start.by}, not agreed yet`),
      isMoving && fact('Companies move', windows ?? (start === null ? 'at any time' : 'at any time after the start')),
    ),
  ];
}

const NO_COMPANIES = 'Companies are shown here once the manifest has been supplied and checked.';
const NEVER_SUPPLIED = 'The migration ended before a manifest was supplied and checked.';

function companyCounts(counts: Counts, migration: string): readonly Child[] {
  const number = (count: number): string => count.toLocaleString('en-US');
  return [
    el('p', { class: 'big' }, number(counts.moved), el('span', {}, ` of ${counted(counts.total, 'company')} moved`)),
    bar(counts),
    el(
      'ul',
      { class: 'legend' },
      ...PARTS.map(({ count, state }) =>
        el(
          'li',
          counts[count] === 0 ? { class: 'none' } : {},
          el('span', { class: `key ${state}` }),
          `${stateLabel(state, migration)} `,
          el('strong', {}, number(counts[count])),
        ),
      ),
    ),
  ];
}

function bar(counts: Counts): HTMLElement {
  const shares = PARTS.filter(({ count }) => counts[count] > 0).map(({ count, state }) => {
    const share = el('span', { class: state });
    share.style.flexGrow = String(counts[count]);
    return share;
  });
  return el('div', { class: 'shares', 'aria-hidden': 'true' }, ...shares);
}

function fact(name: string, value: Child, more?: string): HTMLElement {
  return el('div', {}, el('dt', {}, name), el('dd', {}, value, more !== undefined && hint(more)));
}

const STEP_STATES = { done: 'Done', open: 'Now', later: 'Later' } as const;
const STATES_AFTER_END = { done: 'Done', open: 'Ended here', later: 'Not reached' } as const;

export function renderSteps({ steps, firstCompany, next }: Shown<'steps' | 'firstCompany' | 'next'>): readonly Child[] {
  const states = next === null ? STATES_AFTER_END : STEP_STATES;
  return [
    el('h2', { id: 'steps-title' }, steps.length === 1 ? 'The step' : `The ${steps.length} steps`),
    el(
      'ol',
      { class: 'steps' },
      ...steps.map(({ step, number, title, who, state, openedAt, endedAt, approvals, ...confirmed }) =>
        el(
          'li',
          { class: state, ...(state === 'open' && next !== null ? { 'aria-current': 'step' } : {}) },
          el('span', { class: 'number', 'aria-hidden': 'true' }, state === 'done' ? '✓' : String(number)),
          el(
            'div',
            {},
            el('h3', {}, title, el('span', { class: 'when' }, states[state])),
            hint(sentence(who)),
            endedAt !== null
              ? hint(`Finished ${timeText(endedAt)}`)
              : next !== null && openedAt !== null && hint(`Since ${timeText(openedAt)}`),
            ...approvals.map(({ by, role, at }) => hint(`Approved by ${by} (${role}), ${timeText(at)}`)),
            confirmersText(confirmed),
            step === 'migrate-first-company' && firstCompany !== null && firstCompanyResult(firstCompany),
          ),
        ),
      ),
    ),
  ];
}

function confirmersText({
  confirmedBy = [],
  otherConfirmers = 0,
}: Pick<MigrationView['steps'][number], 'confirmedBy' | 'otherConfirmers'>): Child {
  if (confirmedBy.length === 0) return null;
  const more = otherConfirmers === 0 ? '' : ` and ${otherConfirmers.toLocaleString('en-US')} more`;
  return hint(`Confirmed by ${confirmedBy.join(', ')}${more}`);
}

/** The words for the stages of the first company. */
const STAGES: Readonly<Record<string, string>> = {
  importing: 'being moved and checked',
  verified: 'moved and checked',
  failed: 'not moved',
};

function firstCompanyResult({ reference, stage, evidence }: NonNullable<MigrationView['firstCompany']>): HTMLElement {
  const failed = evidence.filter(({ ok }) => !ok).length;
  const checks =
    failed === 0 ? `all ${evidence.length} checks passed` : `${failed} of ${evidence.length} checks failed`;
  // A move can fail although every check so far has passed.
  const hasResult = evidence.length > 0 && (failed > 0 || stage !== 'failed');
  return el(
    'details',
    { class: 'first', open: failed > 0 },
    el('summary', {}, `First company: ${reference}, ${hasResult ? checks : (STAGES[stage] ?? stage)}`),
    el(
      'ul',
      {},
      ...evidence.map(({ label, result, ok }) =>
        el('li', { class: ok ? 'ok' : 'bad' }, `${ok ? '✓' : '✗'} ${label}: ${result}`),
      ),
    ),
  );
}

export function renderFacts({
  contact,
  outOfDate,
  switchBackOn,
  callbackUrl,
  application,
  details,
  task,
}: Shown<'contact' | 'outOfDate' | 'switchBackOn' | 'callbackUrl' | 'application' | 'details' | 'task'>) {
  const listed = task?.problems ?? [];
  return [
    el('h2', { id: 'facts-title' }, 'Good to know'),
    el(
      'dl',
      { class: 'facts' },
      fact('Your contact', contactLink(contact)),
      callbackUrl !== null && fact('Callback URL for your application', el('code', {}, callbackUrl)),
      application && fact('Your application', `${application.clientId} (${application.environment})`),
      fact('How long data is out of date', inReadersZone(sentence(outOfDate))),
      fact('What may be switched back on', inReadersZone(sentence(switchBackOn))),
    ),
    ...findings(
      'Problems in your details',
      details.problems.filter((problem) => !listed.includes(problem)),
    ),
    ...findings('Warnings about your details', details.warnings),
  ];
}

const contactLink = (contact: string): Child =>
  /^[^\s@<>"]+@[^\s@<>"]+$/.test(contact) ? el('a', { href: `mailto:${contact}` }, contact) : contact;

function findings(title: string | null, texts: readonly string[]): readonly Child[] {
  if (texts.length === 0) return [];
  return [title !== null && el('h3', {}, title), points(...texts.map(inReadersZone))];
}

/** Renders buttons for the possible decisions that the migration is not waiting for. */
export function renderOtherDecisions(app: App): readonly Child[] {
  const others = canDecide(app) ? app.view().actions.filter(({ isExpected }) => !isExpected) : [];
  if (others.length === 0) return [];
  return [
    el('h2', { id: 'decisions-title' }, 'Other decisions'),
    hint('You can also make these decisions now. Before you confirm a decision, the page explains what it does.'),
    buttonRow(...others.map((action) => button(action.title, () => openAction(app, action)))),
  ];
}
