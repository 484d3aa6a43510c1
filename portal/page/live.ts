/** Live data: server-sent events, which the browser requests again after a lost connection. */
import { ApiError, type MigrationAnswer } from '../client/api';
import { byId } from './elements/elements';
import { clockTime } from './elements/times';

interface Listeners {
  readonly onMigration: (answer: MigrationAnswer) => void;
  /** Returns whether the latest view might be out of date, because no worker has written it for a while. */
  readonly isOld: () => boolean;
  /**
   * Checks the session. Called regularly, when the page becomes visible, when another tab opens the page, and after the
   * stream has ended or could not be opened.
   *
   * @throws ApiError
   */
  readonly onReturn: () => Promise<void>;
  /** Returns whether the person is waiting for support to confirm the key. The session is then checked more often. */
  readonly isWaiting: () => boolean;
  readonly onEnd: () => void;
}

/** After an error status, the browser does not reconnect, so the page tries again after this time. */
const AGAIN_AFTER_MS = 5_000;
/** Time between two checks of the session. */
const CHECK_EVERY_MS = 30_000;
/** Time between two checks while the person is waiting for support to confirm the key. */
const CHECK_OFTEN_MS = 3_000;

/** Tabs share the session's cookie, so a new tab uses this channel to make the other tabs check their session. */
const CHANNEL = 'tokenferry';

export function followEvents({ onMigration, isOld, onReturn, isWaiting, onEnd }: Listeners): void {
  /** When the page last had the newest data; null if it never had. */
  let liveAt: Date | null = null;
  /** Since when the portal has been unable to read its database; null if it can read it. */
  let unreadSince: Date | null = null;
  let source = connect();
  let checkedAt = Date.now();
  /** The next attempt after an error status. At most one is planned, although several checks can fail until then. */
  let nextAttempt: ReturnType<typeof setTimeout> | undefined;
  const checking = setInterval(() => {
    if (!document.hidden && (isWaiting() || Date.now() - checkedAt >= CHECK_EVERY_MS)) void check();
  }, CHECK_OFTEN_MS);
  document.addEventListener('visibilitychange', () => !document.hidden && void check());
  const otherTabs = new BroadcastChannel(CHANNEL);
  otherTabs.onmessage = () => void check();
  otherTabs.postMessage('opened');

  function connect(): EventSource {
    const events = new EventSource('/api/events');
    events.addEventListener('ended', () => void check());
    events.onopen = () => {
      unreadSince = null;
      showConnected();
    };
    events.addEventListener('reading', ({ data }) => {
      const since = (JSON.parse(String(data)) as { readonly unreadSince: string | null }).unreadSince;
      unreadSince = since === null ? null : new Date(since);
      if (unreadSince === null) noteLive();
      showConnected();
    });
    events.onerror = () => {
      showState('lost', connectingText(liveAt));
      tryAgainIfClosed();
    };
    events.addEventListener('migration', ({ data }) => {
      onMigration(JSON.parse(String(data)) as MigrationAnswer);
      noteLive();
      showConnected();
    });
    return events;
  }

  function noteLive(): void {
    if (!isOld() && unreadSince === null) liveAt = new Date();
  }

  function showConnected(): void {
    if (unreadSince !== null)
      showState('lost', `Not up to date: the portal cannot read its data. ${asOfText(unreadSince)}`);
    else if (isOld()) showState('lost', 'Not up to date');
    else showState('live', 'Live');
  }

  function tryAgainIfClosed(): void {
    if (source.readyState !== EventSource.CLOSED) return;
    nextAttempt ??= setTimeout(() => {
      nextAttempt = undefined;
      void check();
    }, AGAIN_AFTER_MS);
  }

  async function check(): Promise<void> {
    checkedAt = Date.now();
    try {
      await onReturn();
      if (source.readyState === EventSource.OPEN) noteLive();
      if (source.readyState === EventSource.CLOSED) source = connect();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) return tryAgainIfClosed();
      clearInterval(checking);
      clearTimeout(nextAttempt);
      source.close();
      showState('lost', '');
      onEnd();
    }
  }
}

function connectingText(liveAt: Date | null): string {
  return liveAt === null ? 'Connecting…' : `Connecting… ${asOfText(liveAt)}`;
}

const asOfText = (time: Date): string => `This page shows data as of ${clockTime(time)}.`;

function showState(state: 'live' | 'lost', text: string): void {
  const live = byId('live');
  live.textContent = text;
  live.dataset['state'] = state;
}
