/**
 * Warns people who close the page while it is sending. A dialog can send several requests, so the browser asks before
 * it closes the page. When the page is opened again, it says which dialogs had not finished.
 */

/**
 * The prefix of the keys under which the browser stores what its pages are sending. Each dialog that sends has its own
 * key, because several tabs can send at once. While a tab sends, it holds a lock with the name of the key, so that
 * other tabs do not report the dialog as unfinished.
 */
const UNFINISHED = 'unfinished';

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
  const key = `${UNFINISHED}-${crypto.randomUUID()}`;
  void navigator.locks.request(key, () => finished);
  const sending: Unfinished = { what, at: new Date().toISOString(), page: document.title };
  localStorage.setItem(key, JSON.stringify(sending));
  addEventListener('beforeunload', ask);
  return () => {
    localStorage.removeItem(key);
    removeEventListener('beforeunload', ask);
    release();
  };
}

/** Lets the page reload itself while it sends, without a question. The dialog stays stored as unfinished. */
export const stopAsking = (): void => removeEventListener('beforeunload', ask);

/**
 * Returns what closed pages had not finished, and forgets it. Leaves out what another tab is still sending.
 *
 * @param page the title of the page, which names the migration
 */
export async function takeUnfinished(page: string): Promise<readonly Unfinished[]> {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(UNFINISHED));
  const taken = await Promise.all(
    keys.map((key) =>
      navigator.locks.request(key, { ifAvailable: true }, (lock) => {
        const stored = lock === null ? null : localStorage.getItem(key);
        const unfinished = stored === null ? null : (JSON.parse(stored) as Unfinished);
        if (unfinished?.page !== page) return [];
        localStorage.removeItem(key);
        return [unfinished];
      }),
    ),
  );
  return taken.flat().toSorted((one, other) => one.at.localeCompare(other.at));
}
