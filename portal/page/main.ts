/** The portal's page for the client of a migration. */
import type { PortalSession } from '../contract/session';
import { fingerprintOf } from '../../domain/migration/approvers';
import { isEnding } from '../../domain/migration/migration-state';
import { isOver } from '../../domain/migration/terminated';
import { ApiError, oldViewText, retryWhileTemporary, titleOf, type MigrationAnswer } from '../client/api';
import { finishSignIn, showAccountInvitation, takeIdentityAnswer } from './sign-in/account';
import { endSession, readMigration, readSession, canDecide, mustConfirmKey, type App } from './app';
import { createAllCompanies, createExceptions } from './companies/company-sections';
import { problemText } from './elements/dialog';
import { button, buttonRow, byId, createRenderer, fill, paragraph } from './elements/elements';
import { rememberMigration, showInvitation, showMessage, takeInvitation, unconfirmedKey } from './sign-in/invitation';
import { findKey, fromHex, recordUse, type OwnedKey } from './sign-in/keys';
import { withProvider } from './sign-in/provider';
import { stopAsking, takeUnfinished } from './elements/unfinished';
import { followEvents } from './live';
import {
  renderFacts,
  renderNotices,
  renderOtherDecisions,
  renderProgress,
  renderSteps,
  renderSummary,
  renderTask,
} from './overview';
import { reportAbout, reportSection } from './report';
import { rememberReplaced, replacedText, signOutText, takeReplaced } from './sign-in/returning';
import { namedFor, viewFor, VIEWER_NOTICE } from '../client/personal-texts';
import { keyOfInvitation, showNoSession, showOtherSession } from './sign-in/sign-in';
import { timeText, zoneText } from './elements/times';

/** The longest time until the lists of companies are read again after the migration has changed. */
const LISTS_WITHIN_MS = 8_000;

/** After this time, the page says that it waits for a worker to write the view. */
const SLOW_AFTER_MS = 2_000;

async function start(): Promise<void> {
  const answer = takeIdentityAnswer();
  const invitation = takeInvitation();
  byId('zone').textContent = `Times are in your time zone, ${zoneText()}.`;
  // If a person pastes an invitation into the address of this tab, only the fragment changes. The browser does not load
  // the page in this case, so the page reloads itself.
  addEventListener('hashchange', () => /invitation=|sign-in=/.test(location.hash) && location.reload());
  if (answer !== null) return finishSignIn(answer, () => void open());
  if (invitation !== null && 'migrationId' in invitation)
    return showAccountInvitation(invitation, () => void open(invitation.provider));
  if (invitation === null) return open();
  // A person can open the same link again. This browser's key is then used instead of the invitation.
  const used = await keyOfInvitation(invitation.token);
  return used === undefined ? showInvitation(invitation, () => void open()) : open(null, used);
}

/**
 * @param linked the provider's fingerprint in the opened link, if the link is for an account; otherwise null
 * @param used the key with which this browser has used the opened link before; null if it has not
 */
async function open(linked: string | null = null, used: OwnedKey | null = null): Promise<void> {
  try {
    const session = await retryWhileTemporary(readSession, showWaiting);
    if (used !== null && !isOwner(session, used)) return showOtherSession(used, session, () => void open());
    const waiting = setTimeout(() => showWaiting('Waiting for the migration to answer…'), SLOW_AFTER_MS);
    const answer = await retryWhileTemporary(readMigration, (text) => {
      // The timer must not replace this text, because the text names the cause of the wait.
      clearTimeout(waiting);
      showWaiting(text);
    }).finally(() => clearTimeout(waiting));
    await showMigration(session, answer, linked);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return showNoSession();
    showMessage(
      'The migration cannot be shown',
      paragraph(problemText(error)),
      buttonRow(button('Try again', () => void open(linked, used), { class: 'primary' })),
    );
  }
}

/**
 * Returns whether the session belongs to the owner of the key. Does not compare the keys, because a person can have
 * used several links to the migration, each with its own key.
 */
const isOwner = ({ migrationId, person }: PortalSession, { owner }: OwnedKey): boolean =>
  migrationId === owner.migrationId && person === owner.person;

const showWaiting = (text: string): void => showMessage('Your migration', paragraph(text));

async function showMigration(first: PortalSession, answer: MigrationAnswer, linked: string | null): Promise<void> {
  let session = first;
  const forPerson = (each: MigrationAnswer): MigrationAnswer => ({ ...each, view: viewFor(first, each.view) });
  let latest = forPerson(answer);
  let hasEnded = false;
  let key = session.publicKey === null ? null : await findKey(session.publicKey);
  if (key !== null) key = await recordUse(key, session).catch(() => key);
  await adoptProvider();
  const fingerprint = key === null ? null : fingerprintOf(fromHex(key.publicKey));
  const app: App = {
    get session() {
      return session;
    },
    get key() {
      return key;
    },
    view: () => latest.view,
    refresh,
    reread,
  };
  const migrationName = `${titleOf(latest.view)} (${latest.view.platform.name})`;
  const shown = `${migrationName}, as ${session.person}`;
  const replaced = takeReplaced();
  const unfinished = await takeUnfinished(migrationName);
  const exceptions = createExceptions(app);
  const companies = createAllCompanies(app);
  const render = createRenderer();
  fill(byId('report'), reportSection(session.migrationId));
  renderAll();
  await Promise.all([exceptions.restart(), companies.restart()]);
  showPerson(session);
  document.title = migrationName;
  rememberMigration(shown);
  byId('message').hidden = true;
  byId('migration').hidden = false;

  function renderAll(): void {
    const { view } = latest;
    const { task, next, actions, callbackUrl, application, details, contact, outOfDate, switchBackOn } = view;
    const {
      migrationId,
      client,
      platform,
      headline,
      state,
      counts,
      end,
      start: begin,
      windows,
      steps,
      firstCompany,
    } = view;
    // Each call of `render` gets the values on which its part depends, so that no other change renders the part again.
    const mustConfirm = mustConfirmKey(app);
    render(byId('summary'), { migrationId, client, platform, headline, state, mustConfirm }, renderSummary);
    const expected = actions.filter(({ isExpected }) => isExpected);
    render(byId('task'), [task, next, expected, canDecide(app), mustConfirm], () => renderTask(app));
    render(byId('notices'), notices(), () => renderNotices(notices()));
    render(byId('progress'), { counts, end, start: begin, windows, next, state }, renderProgress);
    const actors = steps.map((step) => ({ ...step, who: namedFor(session.role, step.who) }));
    render(byId('steps'), { steps: actors, firstCompany, next }, renderSteps);
    render(byId('facts'), { callbackUrl, application, details, contact, outOfDate, switchBackOn, task }, renderFacts);
    render(byId('report-about'), isEnding(state), (hasEnded) => [reportAbout(hasEnded)]);
    render(byId('decisions'), [actions, canDecide(app)], () => renderOtherDecisions(app));
    byId('decisions').hidden = byId('decisions').childElementCount === 0;
    byId('steps').hidden = steps.length === 0;
    const unconfirmed = mustConfirm ? fingerprint : null;
    render(byId('key'), [unconfirmed, contact], () => (unconfirmed ? unconfirmedKey(unconfirmed, contact) : []));
    byId('key').hidden = unconfirmed === null;
  }

  // The view of a migration that has ended is final, so it cannot be out of date.
  function isOld(): boolean {
    return !latest.isCurrent && !isEnding(latest.view.state);
  }

  function notices(): readonly string[] {
    const old = isOld() && oldViewText(`This page was last updated ${timeText(latest.writtenAt)}.`, latest.view.state);
    const cannotSign =
      session.role === 'client' &&
      key === null &&
      !isOver(latest.view.state) &&
      `You can read in this browser, but you cannot decide: the key of ${session.person} is in another browser, or was deleted. Use that browser, or ask your contact for a new invitation.`;
    const viewer = session.role === 'viewer' && !isOver(latest.view.state) && VIEWER_NOTICE;
    const isReplacement = replaced !== null && replaced.shown !== shown && replacedText(replaced);
    const unfinishedTexts = unfinished.map(
      ({ what, at }) =>
        `The page was closed before it had finished: ${what} (begun ${timeText(at)}). Check on this page whether this decision has taken effect. If it has not, make the decision again.`,
    );
    const signOut = signOutText(app);
    return [isReplacement, ...unfinishedTexts, old, viewer, signOut, cannotSign, ...latest.view.notices].filter(
      (text) => text !== false && text !== null,
    );
  }

  /** Adds the provider's fingerprint from a later link if the key has none, once the portal shows the migration key. */
  async function adoptProvider(): Promise<void> {
    if (key === null || key.provider !== null) return;
    const facts = { migrationId: session.migrationId, migrationKey: latest.view.migrationKey, linked };
    key = await withProvider(key, facts).catch(() => key);
  }

  let waiting: ReturnType<typeof setTimeout> | undefined;
  /** Reads the lists again after a random wait, because all open pages get the same event at once. */
  function updateLists(): void {
    if (document.hidden || hasEnded) return;
    waiting ??= setTimeout(
      () => {
        waiting = undefined;
        void exceptions.update();
        void companies.update();
      },
      LISTS_WITHIN_MS * (0.2 + 0.8 * Math.random()),
    );
  }
  document.addEventListener('visibilitychange', updateLists);

  function show(received: MigrationAnswer): void {
    if (hasEnded) return;
    const newer = forPerson(received);
    const haveCompaniesChanged = factsOf(newer) !== factsOf(latest);
    const haveDecisionsChanged = messagesOf(newer) !== messagesOf(latest);
    latest = newer;
    renderAll();
    void adoptProvider();
    if (haveCompaniesChanged || haveDecisionsChanged) updateLists();
  }

  async function reread(): Promise<void> {
    const newer = await readMigration().catch(() => null);
    if (newer !== null) show(newer);
  }

  async function refresh(): Promise<void> {
    await reread();
    if (hasEnded) return;
    for (const list of [exceptions, companies]) list.clear();
    await Promise.all([exceptions.restart(), companies.restart()]);
  }

  followEvents({
    onMigration: show,
    isOld,
    onReturn: async () => {
      const [newer, couldDecide] = [await readSession(), canDecide(app)];
      // Another tab, which shares the session's cookie, has signed in to another migration or with another key.
      const isOther = newer.migrationId !== session.migrationId || newer.publicKey !== session.publicKey;
      if (isOther) rememberReplaced(app, shown);
      // If the session of this page had ended, the person has signed in again in another tab.
      if (isOther || hasEnded) {
        stopAsking();
        return location.reload();
      }
      session = newer;
      renderAll();
      if (canDecide(app) !== couldDecide) await Promise.all([exceptions.restart(), companies.restart()]);
    },
    isWaiting: () => mustConfirmKey(app),
    onEnd: () => {
      if (hasEnded) return;
      hasEnded = true;
      clearTimeout(waiting);
      const { contact } = latest.view;
      removeMigration();
      void showNoSession(contact);
    },
  });
}

/** Removes everything about the migration from the page, because the person may no longer read it. */
function removeMigration(): void {
  document.querySelector('dialog')?.remove();
  byId('migration').replaceChildren();
  for (const id of ['person', 'announcer']) byId(id).textContent = '';
  byId('sign-out').hidden = true;
}

/** Returns the facts of a view on which the lists of companies depend, apart from its decisions. */
const factsOf = ({ view: { counts, hasReconnectLinks } }: MigrationAnswer): string =>
  JSON.stringify([counts, hasReconnectLinks]);

const messagesOf = ({ view }: MigrationAnswer): string => view.actions.map(({ message }) => message).join();

function showPerson({ person, role }: PortalSession): void {
  byId('person').textContent = role === 'viewer' ? `${person} (read-only)` : person;
  const out = byId('sign-out');
  out.hidden = false;
  out.onclick = () =>
    void endSession().then(
      () => location.reload(),
      (error: unknown) => (byId('person').textContent = problemText(error)),
    );
}

void start();
