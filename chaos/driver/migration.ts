/**
 * A migration of a chaos run, and the people who supervise it. They do what docs/runbook.md says: send a decision again
 * until its outcome is known, resume a migration that has paused itself, and repair a ledger that is behind.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import {
  decide,
  isLedgerBehind,
  LedgerBehind,
  MigrationClosed,
  readProgress,
  reconcile,
  startMigration,
  type DecisionContent,
  type LedgerClient,
} from '../../client';
import { manifestDigest } from '../../cli/manifest';
import { countOpen } from '../../domain/companies/counts';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import type { MigrationLimits } from '../../domain/planning/limits';
import type { Progress } from '../../domain/progress/progress';
import type { Platform } from '../../platforms/platforms';
import { Secret, type SigningKey } from '../../security';
import { readCompanies, stageCredentials } from '../../store';
import type { SuppliedToken } from '../checker';
import { credentialDigest } from '../cluster';
import type { ChaosCompany } from './companies';

export const SUPPORT = { role: 'support', by: 'Sam' } as const;
export const CLIENT = { role: 'client', by: 'Cleo' } as const;

export type Answer = 'applied' | 'refused' | 'unknown';

export interface MigrationOptions {
  readonly client: string;
  readonly platform: Platform;
  readonly companies: readonly ChaosCompany[];
  readonly limits: Partial<MigrationLimits>;
  /** The keys of Sam and Cleo; empty if decisions are not signed. */
  readonly signers: readonly SigningKey[];
  /** Time limit of each wait in the steps before the batch. Default: three minutes. */
  readonly preparedWithinMs?: number;
  /** Path of the log of decisions: one JSON object per line. */
  readonly decisionLog: string;
}

const POLL_MS = 500;
/** The time for which a decision is sent again and again. No fault lasts this long. */
const DECIDE_WITHIN_MS = 300_000;
/** The default of `preparedWithinMs`. Includes no time for faults: chaos runs inject them only during the batch. */
const PREPARED_WITHIN_MS = 180_000;

export class ChaosMigration {
  private constructor(
    private readonly ferry: LedgerClient,
    readonly id: string,
    private readonly options: MigrationOptions,
  ) {}

  static async start(ferry: LedgerClient, options: MigrationOptions): Promise<ChaosMigration> {
    const { client, platform, companies, limits, signers } = options;
    const rows = companies.map(({ row }) => row);
    const id = await startMigration(ferry, {
      ...{ client, platform, rows, limits, firstCompany: null },
      ...{ manifestDigest: manifestDigest(rows), contact: 'the solutions team', by: SUPPORT.by },
      ...(signers.length === 0 ? {} : { decisions: { approvers: signers.map(approverOf) } }),
    });
    return new ChaosMigration(ferry, id, options);
  }

  get companies(): readonly ChaosCompany[] {
    return this.options.companies;
  }

  /** The tokens of the migration's companies, in the form that the checker reads. */
  get suppliedTokens(): readonly SuppliedToken[] {
    return this.companies.map(({ row: { reference, organization }, credential, tokenDigest }) => ({
      ...{ migration: this.id, reference, organization, sha256: tokenDigest },
      bodySha256: credentialDigest(credential),
    }));
  }

  /**
   * Sends a decision, again and again with the same id, until its outcome is known.
   *
   * @param withinMs how long to try; then the answer is `unknown`
   */
  async decide(
    message: DecisionMessage,
    content: DecisionContent,
    withinMs: number = DECIDE_WITHIN_MS,
  ): Promise<Answer> {
    const sent = { decisionId: randomUUID(), ...content };
    const signer = this.options.signers.find(({ by }) => by === content.by);
    const deadline = Date.now() + withinMs;
    do {
      try {
        const { outcome } = await decide(signer ? { ...this.ferry, signer } : this.ferry, this.id, message, sent);
        if (outcome !== 'recorded') return this.recordAnswer(message, sent, outcome);
      } catch (error) {
        // An earlier try might have been applied, and might even have closed the migration.
        if (error instanceof MigrationClosed) return this.recordAnswer(message, sent, 'unknown');
        if (error instanceof LedgerBehind) await this.repairLedger();
      }
      await delay(POLL_MS);
    } while (Date.now() < deadline);
    return this.recordAnswer(message, sent, 'unknown');
  }

  /**
   * Sends a decision that must be applied.
   *
   * @throws if it is refused, or if its outcome is unknown
   */
  async apply(message: DecisionMessage, content: DecisionContent): Promise<void> {
    const answer = await this.decide(message, content);
    if (answer !== 'applied') throw new Error(`${this.id}: ${message} by ${String(content.by)} is ${answer}`);
  }

  private recordAnswer(
    message: DecisionMessage,
    sent: DecisionContent & { decisionId: string },
    answer: Answer,
  ): Answer {
    const { decisionId, role } = sent;
    const entry = { at: new Date().toISOString(), migration: this.id, decisionId, message, role, answer };
    appendFileSync(this.options.decisionLog, `${JSON.stringify(entry)}\n`);
    return answer;
  }

  /** Sends any message, valid or not, as a signal. Ignores every failure. */
  async signal(message: string, content: unknown): Promise<void> {
    await this.ferry.temporal.workflow
      .getHandle(this.id)
      .signal(message, content)
      .catch(() => undefined);
  }

  /** Returns the progress, or undefined if it cannot be read at the moment. */
  async progress(): Promise<Progress | undefined> {
    return readProgress(this.ferry, this.id).catch(() => undefined);
  }

  /**
   * Polls the progress until it meets the condition, and returns it.
   *
   * @throws if it does not meet the condition in time
   */
  async until(isReached: (progress: Progress) => boolean, withinMs: number): Promise<Progress> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const progress = await this.progress();
      if (progress && isReached(progress)) return progress;
      if (Date.now() > deadline)
        throw new Error(
          `${this.id} did not reach the expected state within ${withinMs / 1_000} s: ${JSON.stringify(progress)}`,
        );
      await delay(POLL_MS);
    }
  }

  /** Takes the migration through steps 1 to 5. The approval of the first company ends step 5 and begins the batch. */
  async beginBatch(): Promise<void> {
    await this.releaseFirstCompany('all');
    await this.approveFirstCompany();
  }

  /**
   * Takes the migration through steps 1 to 4 and supplies the credentials, after which the first company is moved.
   *
   * @param confirmed the references of the companies for which the client confirms that syncing is off
   */
  async releaseFirstCompany(confirmed: 'all' | readonly string[]): Promise<void> {
    const { preparedWithinMs = PREPARED_WITHIN_MS } = this.options;
    await this.until(({ preflight, checking }) => preflight !== null && !checking, preparedWithinMs);
    await this.apply('approve', { step: 'supply-details', ...SUPPORT });
    // On a busy machine, it takes seconds until the next step opens.
    await this.until(({ step }) => step === 'schedule', preparedWithinMs);
    await this.apply('proposeTime', { startAt: new Date().toISOString(), ...SUPPORT });
    await this.apply('approve', { step: 'schedule', ...SUPPORT });
    await this.apply('approve', { step: 'schedule', ...CLIENT });
    await this.apply('approve', { step: 'update-application', ...CLIENT });
    await this.apply('approve', { step: 'update-application', ...SUPPORT });
    await this.apply('confirmSyncDisabled', { companies: confirmed, ...CLIENT });
    await this.until(({ step }) => step === 'migrate-first-company', preparedWithinMs);
    await this.supplyCredentials();
  }

  /** Waits until the first company has been verified, and approves it. */
  async approveFirstCompany(): Promise<void> {
    const { preparedWithinMs = PREPARED_WITHIN_MS } = this.options;
    await this.until(({ firstCompany }) => firstCompany?.stage === 'verified', preparedWithinMs);
    await this.apply('approve', { step: 'migrate-first-company', ...SUPPORT });
  }

  private async supplyCredentials(): Promise<void> {
    const decisionId = randomUUID();
    const obtainedAt = new Date().toISOString();
    const supplied = this.companies.map(({ row: { reference }, credential }) => ({
      ...{ reference, obtainedAt },
      fields: new Secret(credential),
    }));
    await stageCredentials(this.ferry.db, this.id, supplied, CLIENT.by, { decisionId, replaces: false });
    await this.apply('credentialsSupplied', { decisionId, companies: supplied.length, ...CLIENT });
  }

  /** Reconciles the ledger, whether or not it is behind. Ignores errors, because a server can be down. */
  async repairLedger(): Promise<void> {
    await reconcile(this.ferry, this.id).catch(() => undefined);
  }

  /**
   * Reads the progress once. If the migration is paused, repairs the ledger if it is behind. If the migration has
   * paused itself, resumes it.
   */
  async supervise(): Promise<void> {
    const progress = await this.progress();
    if (!progress?.pause) return;
    if (await isLedgerBehind(this.ferry, this.id).catch(() => false)) await this.repairLedger();
    if (progress.pause.by === null) await this.decide('resume', { ...SUPPORT, reason: 'the fault has ended' }, 20_000);
  }

  /**
   * Supervises the migration until it is not paused and each company has an outcome: a final one or `outcome-unknown`.
   * Returns the progress at the end.
   *
   * @throws if that takes longer than `withinMs`
   */
  async awaitOutcomes(withinMs: number): Promise<Progress> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      await this.supervise();
      const progress = await this.progress();
      if (progress && !progress.pause) {
        const { counts } = progress;
        if (countOpen(counts) === counts.outcomeUnknown) return progress;
      }
      if (Date.now() > deadline)
        throw new Error(
          `companies of ${this.id} are still open after ${withinMs / 1_000} s: ${JSON.stringify(progress)}`,
        );
      await delay(POLL_MS);
    }
  }

  /**
   * Retries every company whose outcome is unknown. Returns the references of these companies, and of those that were
   * then moved.
   */
  async retryUnknown(withinMs: number): Promise<{ readonly unknown: string[]; readonly movedByRetry: string[] }> {
    const unknown = await this.referencesIn('outcome-unknown');
    if (unknown.length === 0) return { unknown, movedByRetry: [] };
    await this.decide('retry', { companies: unknown, ...SUPPORT });
    await this.awaitOutcomes(withinMs);
    const moved = new Set(await this.referencesIn('moved'));
    return { unknown, movedByRetry: unknown.filter((reference) => moved.has(reference)) };
  }

  private async referencesIn(state: 'outcome-unknown' | 'moved'): Promise<string[]> {
    const references: string[] = [];
    for await (const { reference } of readCompanies(this.ferry.db, this.id, { states: [state] }))
      references.push(reference);
    return references;
  }

  /** Skips every company whose outcome is unknown, and signs the handover off in both roles. */
  async signOff(): Promise<void> {
    const open = await this.referencesIn('outcome-unknown');
    if (open.length > 0) await this.decide('skip', { companies: open, reason: 'the outcome is unknown', ...SUPPORT });
    for (const person of [SUPPORT, CLIENT]) await this.apply('approve', { step: 'complete-migration', ...person });
  }
}

const approverOf = ({ by, publicKey }: SigningKey) => ({
  ...(by === SUPPORT.by ? SUPPORT : CLIENT),
  publicKey,
});
