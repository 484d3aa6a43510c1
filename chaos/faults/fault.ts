import type { LedgerClient } from '../../client';
import type { Cluster } from '../cluster';
import type { ChaosMigration } from '../driver/migration';
import type { Random } from '../random';

/** The cluster and the migrations that faults act on. */
export interface FaultContext {
  readonly cluster: Cluster;
  readonly ferry: LedgerClient;
  readonly migrations: readonly ChaosMigration[];
  /** Path of a workflow bundle with changed code that can continue the migrations. */
  readonly changedBundle: string;
}

/** A fault that has been drawn from the seed and has not begun. */
export interface Fault {
  /** Names the fault and its target, e.g. `kill worker-1`. */
  readonly name: string;
  /** The time from the end of `begin` to the call of `repair`, in milliseconds. */
  readonly lastsMs: number;
  begin(): Promise<void>;
  /** Repairs it. The time to the next move is measured from the end of this call. */
  repair(): Promise<void>;
}

/** Draws a fault of one kind. */
export type FaultKind = (context: FaultContext, random: Random) => Fault;

/** Returns a random number of milliseconds between two numbers of seconds. */
export const randomSeconds = (random: Random, from: number, to: number): number =>
  random.between(from * 1_000, to * 1_000);
