/**
 * Decides which statements Postgres prepares, and under which names.
 *
 * For a short statement, parsing and planning take at least as long as running it. A statement that has been used more
 * than 20 times gets a name. Postgres prepares it on each connection that runs it. Statements that differ every time
 * are never prepared, because each is used only once. All counts are dropped when there are too many.
 */

/** Number of uses after which a statement is prepared, because it will probably be used again. */
const USES_BEFORE_PREPARING = 20;
/**
 * Maximum number of statements that have a name. A connection can hold more, because a reset does not remove the old
 * statements from the connection.
 */
const MAX_PREPARED = 300;
/** Maximum number of statements whose uses are counted. Callers can build any number of different statements. */
const MAX_COUNTED = 1_000;

export class PreparedStatements {
  private readonly names = new Map<string, string>();
  private readonly uses = new Map<string, number>();
  private named = 0;

  /** Counts a use of the statement. Returns its name; undefined if it should not be prepared. */
  nameOf(text: string): string | undefined {
    const known = this.names.get(text);
    if (known !== undefined || this.names.size === MAX_PREPARED) return known;
    const uses = (this.uses.get(text) ?? 0) + 1;
    if (uses > USES_BEFORE_PREPARING) return this.assignName(text);
    if (this.uses.size === MAX_COUNTED) this.uses.clear();
    this.uses.set(text, uses);
    return undefined;
  }

  /** Forgets all names after a schema change, so that statements are prepared again under new names. */
  reset(): void {
    this.names.clear();
  }

  private assignName(text: string): string {
    this.uses.delete(text);
    this.named += 1;
    const name = `kept_${this.named}`;
    this.names.set(text, name);
    return name;
  }
}
