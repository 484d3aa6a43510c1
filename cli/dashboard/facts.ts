/** What the list does not say about the migrations in sight: their workflows are asked, as rarely as can be. */
import type { Progress } from '../../domain/progress/progress';
import type { LedgerClient } from '../../client';
import { queryProgress } from '../../client';
import type { DashboardRow, Facts } from './state';

/** Asked again when the list says that something has changed, and now and then: what is waited for has numbers in it. */
const LAST_MS = 30_000;
const ANSWER_WITHIN_MS = 2_000;
/** In one go: a page of migrations is not asked all at once. */
const ASKED_AT_ONCE = 6;
/** One that did not answer is left alone for so long. */
const LEFT_ALONE_MS = 10_000;

interface Known {
  /** Null: it has not answered yet. */
  readonly facts: Facts | null;
  /** What the list said of it. */
  readonly version: string;
  readonly askAgainAt: number;
}

export interface FactsInSight {
  /** Null: not known yet. */
  of(migrationId: string): Facts | null;
  /** @throws NoWorker as long as none of those that were asked has answered */
  refresh(rows: readonly DashboardRow[]): Promise<void>;
}

export function openFacts(ferry: LedgerClient): FactsInSight {
  const known = new Map<string, Known>();
  const factsKnown = (migrationId: string): Facts | null => known.get(migrationId)?.facts ?? null;
  let failure: Error | null = null;

  async function ask(row: DashboardRow): Promise<void> {
    const { migrationId } = row;
    const version = versionOf(row);
    try {
      const facts = factsOf(await queryProgress(ferry, migrationId, ANSWER_WITHIN_MS));
      known.set(migrationId, { facts, version, askAgainAt: Date.now() + LAST_MS });
    } catch (error) {
      const askAgainAt = Date.now() + LEFT_ALONE_MS;
      known.set(migrationId, { facts: factsKnown(migrationId), version, askAgainAt });
      throw error;
    }
  }

  return {
    of: factsKnown,
    refresh: async (rows) => {
      const old = rows.filter((row) => isOld(known.get(row.migrationId), row)).slice(0, ASKED_AT_ONCE);
      const asked = await Promise.allSettled(old.map(ask));
      const failed = asked.find((each) => each.status === 'rejected');
      if (asked.length > 0)
        failure = failed && asked.every(({ status }) => status === 'rejected') ? asError(failed.reason) : null;
      if (failure) throw failure;
    },
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

function isOld(known: Known | undefined, row: DashboardRow): boolean {
  return known === undefined || known.version !== versionOf(row) || Date.now() >= known.askAgainAt;
}

function versionOf({ state, step, waitingFor }: DashboardRow): string {
  return `${state} ${step} ${waitingFor}`;
}

function factsOf({ waitingFor, waitingSince, standstill, windows, estimate, proposal }: Progress): Facts {
  return {
    what: waitingFor.what,
    waitingSince,
    standsStill: standstill !== null,
    windows,
    endsBy: proposal ? (estimate?.ends?.latest ?? null) : null,
  };
}
