/** The course of a migration: opening, checking, recording what was decided, closing. */
import { cancellationSignal } from '@temporalio/activity';
import { CompanyDataError } from '../company-data-client';
import type { Counts } from '../domain/company-state';
import type { Decision, Outcome } from '../domain/decision';
import type { Speed, Volume } from '../domain/estimate';
import { ASSUMED_SPEED } from '../domain/estimate';
import type { Ending, Preflight, Recorded } from '../domain/migration-state';
import { findPlatform } from '../domain/platforms';
import type { Opening } from '../domain/windows';
import { openingsFrom } from '../domain/windows';
import {
  acceptFailures,
  awaitRelink,
  beginRun,
  changeLimits,
  closeMigration,
  confirmDisabled,
  countCompanies,
  destroyVault,
  leaveOut,
  openMigration,
  openVault,
  readLimits,
  readMigration,
  readVolume,
  recordDecisions,
  setOpening,
  setPaused,
  stopClaims,
  tryAgain,
  withdrawConfirmations,
} from '../store';
import type { Database } from '../store';
import type { ActivityDeps } from './deps';

interface OfMigration {
  readonly migrationId: string;
}

export function courseActivities({ db, service, keys }: ActivityDeps) {
  return {
    async openMigration({ migrationId }: OfMigration): Promise<void> {
      await openMigration(db, migrationId);
      await openVault(db, keys, migrationId);
    },

    /** Checks what was supplied against the account and the platform; no credential is used. */
    async preflight({ migrationId }: OfMigration): Promise<Preflight> {
      const migration = await readMigration(db, migrationId);
      if (!migration) return NO_MANIFEST;
      const { total } = await countCompanies(db, migrationId);
      const checked = {
        companies: total,
        manifestDigest: migration.manifestDigest,
        suppliedBy: migration.suppliedBy,
      };
      const platform = findPlatform(migration.platformKey);
      const problems: string[] = [];
      const signal = cancellationSignal();
      if (!platform?.routes.includes('managed')) {
        problems.push(`platform ${migration.platformKey} has no managed route`);
      }
      try {
        const { value: account } = await service.account({ signal });
        if (account.role !== 'administrator') problems.push('the API key is not an administrator key');
        const { companyLimit, companiesUsed = 0 } = account;
        if (companyLimit !== undefined && companiesUsed + total > companyLimit) {
          problems.push(`the account has room for ${companyLimit - companiesUsed} companies, not for ${total}`);
        }
        const { value: integration } = await service.integration(migration.platformKey, { signal });
        if (!integration.enabled) problems.push(`${integration.name} is not enabled in the account`);
        return { ...checked, problems, callbackUrl: integration.callbackUrl ?? null };
      } catch (error) {
        // An outage passes, and the activity is tried again; an answer stays what it is.
        if (!(error instanceof CompanyDataError) || !isAnswerAboutUs(error)) throw error;
        return { ...checked, problems: [...problems, error.message], callbackUrl: null };
      }
    },

    async count({ migrationId }: OfMigration): Promise<Counts> {
      return countCompanies(db, migrationId);
    },

    async measure({ migrationId }: OfMigration): Promise<{ volume: Volume; speed: Speed; measured: boolean }> {
      return { volume: await readVolume(db, migrationId), speed: ASSUMED_SPEED, measured: false };
    },

    /** Lets companies be claimed in the opening that is now, or comes next. */
    async openWindow({ migrationId }: OfMigration): Promise<OpenWindow> {
      return openWindow(db, migrationId);
    },

    async beginRun({ migrationId, run, ramp }: OfMigration & { run: string; ramp: boolean }): Promise<void> {
      const { limits } = await readLimits(db, migrationId);
      await beginRun(db, migrationId, run, ramp ? limits.rampCompanies : 0);
    },

    async setPaused({ migrationId, paused }: OfMigration & { paused: boolean }): Promise<void> {
      await setPaused(db, migrationId, paused);
    },

    /** What decisions mean for the ledger is written first, so that the trail never says more than was done. */
    async recordDecisions({ migrationId, recorded }: OfMigration & { recorded: readonly Recorded[] }): Promise<Counts> {
      for (const { decision, outcome } of recorded) {
        if (outcome.applied && decision.kind !== 'unreadable') await carryOut(db, migrationId, decision, outcome);
      }
      await recordDecisions(db, migrationId, recorded);
      return countCompanies(db, migrationId);
    },

    async closeMigration({ migrationId, ending }: OfMigration & { ending: Ending }): Promise<Counts> {
      await closeMigration(db, migrationId, ending);
      await destroyVault(db, migrationId);
      return countCompanies(db, migrationId);
    },
  };
}

const NO_MANIFEST: Preflight = {
  companies: 0,
  manifestDigest: null,
  suppliedBy: null,
  problems: ['no manifest was supplied'],
  callbackUrl: null,
};

function isAnswerAboutUs(error: CompanyDataError): boolean {
  const failure = error.toFailure();
  return failure.kind === 'answer' && failure.status >= 400 && failure.status < 500 && failure.status !== 429;
}

/** What a decision changes in the ledger; doing it twice changes nothing more. */
async function carryOut(db: Database, migrationId: string, decision: Decision, { at }: Outcome): Promise<void> {
  switch (decision.kind) {
    case 'sync-disabled':
      return confirmDisabled(db, { migrationId, companies: decision.companies, by: decision.by, at });
    case 'pause':
      return setPaused(db, migrationId, true);
    case 'resume':
      // Whoever goes on has seen what was not moved.
      await acceptFailures(db, migrationId);
      return setPaused(db, migrationId, false);
    case 'step':
      if (decision.verdict === 'reject' && decision.step === 'disable-syncing') {
        await withdrawConfirmations(db, migrationId);
      }
      return;
    case 'exclude':
    case 'skip':
      return leaveOut(db, {
        migrationId,
        companies: decision.companies,
        as: decision.kind,
        by: decision.by,
        reason: decision.reason,
      });
    case 'retry':
      return tryAgain(db, migrationId, decision.companies);
    case 'relink':
      return awaitRelink(db, { migrationId, companies: decision.companies, at });
    case 'time':
      if (decision.windows) await changeLimits(db, migrationId, { windows: decision.windows });
      return;
    case 'adjust':
      await changeLimits(db, migrationId, decision.limits);
      // A run that is under way keeps to the new windows with its next claim.
      if (decision.limits.windows) await openWindow(db, migrationId);
      return;
    case 'cancel':
      return stopClaims(db, migrationId);
    case 'first-company':
    case 'application-supplied':
    case 'manifest-amended':
    case 'credentials-supplied':
      return;
  }
}

/** When companies may be started. */
export interface OpenWindow {
  /** Null: at any time. */
  readonly opening: Opening | null;
  /** Milliseconds, by the ledger's clock; 0: it is open. */
  readonly opensInMs: number;
}

async function openWindow(db: Database, migrationId: string): Promise<OpenWindow> {
  const { limits, now } = await readLimits(db, migrationId);
  const opening = openingsFrom(limits.windows, now.toISOString())[0] ?? null;
  await setOpening(db, migrationId, opening);
  return { opening, opensInMs: opening ? Math.max(0, Date.parse(opening.opensAt) - now.getTime()) : 0 };
}
