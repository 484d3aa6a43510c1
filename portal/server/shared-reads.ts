/**
 * Shares results of the database among requests for the same data, because many people watch one migration, and their
 * pages read its data at the same moment.
 *
 * At most one shared read of a key runs at a time. A request that arrives meanwhile waits for the next read, which all
 * waiting requests share. A request therefore never gets data that was read before the request arrived. The caller must
 * have authorized each request.
 */
export class SharedReads<T extends object> {
  private readonly running = new Map<string, Reading<T>>();

  /**
   * @param key identifies the data, including the migration
   * @param read reads the data with the session of the caller. Returns undefined if there is no data, or if that
   * session has ended meanwhile; each waiting request then reads with its own session
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
