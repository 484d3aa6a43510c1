/** A statement that was used so often is kept prepared: it goes on being used, as far as anybody can tell. */
const USES_BEFORE = 20;
/** Kept prepared at most, on each connection. */
const KEPT = 300;
/** Counted at most: questions that a caller puts together are endless. */
const COUNTED = 1_000;

/**
 * Which statements Postgres keeps prepared, and under which names. Reading and planning a short statement anew costs
 * Postgres as much as running it, or more.
 */
export class PreparedStatements {
  private readonly names = new Map<string, string>();
  private readonly uses = new Map<string, number>();
  private named = 0;

  /** The name of a statement; undefined: it is not used often enough to be kept. */
  nameOf(text: string): string | undefined {
    const known = this.names.get(text);
    if (known !== undefined || this.names.size === KEPT) return known;
    const uses = (this.uses.get(text) ?? 0) + 1;
    if (uses > USES_BEFORE) return this.name(text);
    if (this.uses.size === COUNTED) this.uses.clear();
    this.uses.set(text, uses);
    return undefined;
  }

  /** The tables are others than when the statements were prepared: all are prepared anew, under other names. */
  forget(): void {
    this.names.clear();
  }

  private name(text: string): string {
    this.uses.delete(text);
    this.named += 1;
    const name = `kept_${this.named}`;
    this.names.set(text, name);
    return name;
  }
}
