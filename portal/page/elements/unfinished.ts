/**
 * The requests that the page is sending. A supply consists of several requests, so the browser asks before it closes
 * the page, and the page says later what it had not finished.
 */

/** The key under which the browser stores what a page is sending. */
const UNFINISHED = 'unfinished';
/** Held by every tab while it sends, so that another tab does not take its sending for an unfinished one. */
const LOCK = 'sending';

interface Unfinished {
  /** The title of the dialog. */
  readonly what: string;
  /** ISO 8601. */
  readonly at: string;
  /** The title of the page, which names the migration. */
  readonly page: string;
}

const ask = (event: Event): void => event.preventDefault();

/**
 * Begins to send. Until the returned function is called, the browser asks before it closes the page.
 *
 * @param what the title of the dialog
 */
export function beginSending(what: string): () => void {
  let release = (): void => undefined;
  const finished = new Promise<void>((resolve) => (release = resolve));
  void navigator.locks.request(LOCK, { mode: 'shared' }, () => finished);
  const sending: Unfinished = { what, at: new Date().toISOString(), page: document.title };
  localStorage.setItem(UNFINISHED, JSON.stringify(sending));
  addEventListener('beforeunload', ask);
  return () => {
    localStorage.removeItem(UNFINISHED);
    removeEventListener('beforeunload', ask);
    release();
  };
}

/**
 * Returns what a closed page had not finished, and forgets it; null if there is nothing, or another tab is sending.
 *
 * @param page the title of the page, which names the migration
 */
export function takeUnfinished(page: string): Promise<Unfinished | null> {
  return navigator.locks.request(LOCK, { ifAvailable: true }, (lock) => {
    const stored = lock === null ? null : localStorage.getItem(UNFINISHED);
    const unfinished = stored === null ? null : (JSON.parse(stored) as Unfinished);
    if (unfinished?.page !== page) return null;
    localStorage.removeItem(UNFINISHED);
    return unfinished;
  });
}
