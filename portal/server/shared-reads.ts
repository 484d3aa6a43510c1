/**
 * Shares what the database returns among requests for the same thing, because many people watch one migration, and their
 * pages read it at the same moment.
 *
 * At most one shared read of a key runs at a time. A request that arrives meanwhile waits for the next read, which all
 * waiting requests share, so it never gets what was read before it arrived. The caller has authorized each request.
 */
export class SharedReads<T extends object> {
  private readonly running = new Map<string, Reading<T>>();

  /**
   * @param key identifies what is read, including the migration
   * @param read reads it with the session of the caller. It returns undefined if that session has ended meanwhile; each
   *   waiting request then reads with its own session
   */
  async read(key: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const entry = this.running.get(key);
    if (entry === undefined) return this.begin(key, read);
    const begin = (): Promise<T | undefined> => this.begin(key, read);
    // If the current read fails, only the requests that share it fail.
    const found = await (entry.next ??= entry.current.then(begin, begin));
    return found ?? read();
  }

  private begin(key: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const entry: Reading<T> = { current: read() };
    this.running.set(key, entry);
    const end = (): void => {
      if (entry.next === undefined) this.running.delete(key);
    };
    void entry.current.then(end, end);
    return entry.current;
  }
}

interface Reading<T> {
  readonly current: Promise<T | undefined>;
  next?: Promise<T | undefined>;
}
