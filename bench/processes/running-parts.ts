/** The running parts of a benchmark: processes, servers and connections. */
interface Part {
  stop(): Promise<unknown>;
}

/** Collects parts while they are started, so that all of them are stopped even if a later part fails to start. */
export class RunningParts {
  private readonly parts: Part[] = [];

  /** Adds a part that has started, and returns it. */
  add<Started extends Part>(part: Started): Started {
    this.parts.unshift(part);
    return part;
  }

  /**
   * Stops all parts, in reverse order of their start.
   *
   * @throws {AggregateError} after it has stopped the others, if some parts cannot be stopped
   */
  async stop(): Promise<void> {
    const failures: unknown[] = [];
    for (const part of this.parts.splice(0)) await part.stop().catch((failure: unknown) => failures.push(failure));
    if (failures.length > 0)
      throw new AggregateError(failures, `Not stopped: ${failures.map((failure) => String(failure)).join('; ')}`);
  }
}
