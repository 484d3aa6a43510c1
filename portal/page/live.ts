/** Live data: server-sent events, which the browser requests again after a lost connection. */
import type { MigrationAnswer } from '../client/api';
import { ApiError } from '../client/api';
import { byId } from './elements';

interface Listeners {
  readonly onMigration: (answer: MigrationAnswer) => void;
  /** Called from time to time while the connection works. @throws ApiError */
  readonly onReturn: () => Promise<void>;
  readonly onEnd: () => void;
}

/** The browser stops asking after an error status, so the page asks again after this time. */
const AGAIN_AFTER_MS = 5_000;
/** How often the page checks its session, to see that support has confirmed the key. */
const CHECK_EVERY_MS = 30_000;

export function followEvents({ onMigration, onReturn, onEnd }: Listeners): void {
  let source = connect();
  const checking = setInterval(() => void check(), CHECK_EVERY_MS);

  function connect(): EventSource {
    const events = new EventSource('/api/events');
    events.addEventListener('ended', () => void check());
    events.onopen = () => showState('live', 'Live');
    events.onerror = () => {
      showState('lost', 'Connecting…');
      if (events.readyState === EventSource.CLOSED) setTimeout(() => void check(), AGAIN_AFTER_MS);
    };
    events.addEventListener('migration', ({ data }) => onMigration(JSON.parse(String(data)) as MigrationAnswer));
    return events;
  }

  async function check(): Promise<void> {
    try {
      await onReturn();
      if (source.readyState === EventSource.CLOSED) source = connect();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) {
        if (source.readyState === EventSource.CLOSED) setTimeout(() => void check(), AGAIN_AFTER_MS);
        return;
      }
      clearInterval(checking);
      source.close();
      showState('lost', '');
      onEnd();
    }
  }
}

function showState(state: 'live' | 'lost', text: string): void {
  const live = byId('live');
  live.textContent = text;
  live.dataset['state'] = state;
}
