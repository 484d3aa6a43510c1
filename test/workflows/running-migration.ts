/**
 * Starts a migration for tests of workflows and commands, and takes it through its steps. `startTestMigration` starts
 * it with test credentials, and `readyToMove` takes it through steps 1 to 4.
 */
import { randomUUID } from 'node:crypto';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import { decide, readProgress, startMigration, type LedgerClient, type DecisionContent } from '../../client';
import { manifestDigest } from '../../cli/manifest';
import type { ManifestRow } from '../../domain/companies/manifest';
import type { MigrationLimits } from '../../domain/planning/limits';
import { findPlatform, type Route } from '../../platforms/platforms';
import type { Progress } from '../../domain/progress/progress';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import type { Approver } from '../../domain/migration/approvers';
import { WEEKDAYS } from '../../domain/planning/windows';
import { Secret, type SigningKey } from '../../security';
import { stageCredentials, supplyCredentials, type SuppliedCredential } from '../../store';
import { until } from '../support/async';
import type { Orchestrator } from '../support/servers/orchestrator';

export const SUPPORT = { role: 'support', by: 'Sam' } as const;
export const CLIENT = { role: 'client', by: 'Cleo' } as const;

/** Returns windows that are closed now, because they open in two days, for a minute. */
export function closedWindows() {
  const day = WEEKDAYS[(new Date().getUTCDay() + 2) % 7];
  return [{ days: [day], from: '12:00', to: '12:01', timeZone: 'UTC' }];
}

/** Returns the fields of an `adjust` decision that changes only the windows. */
export const windowChange = (windows: unknown) => ({ limits: { windows }, ...SUPPORT });

/** Returns the summaries of all timers that a workflow has started, in their order. */
export async function timerSummaries({ ferry }: Orchestrator, workflowId: string): Promise<readonly unknown[]> {
  const { workflow, options } = ferry.temporal;
  const { events } = await workflow.getHandle(workflowId).fetchHistory();
  const summaries = (events ?? []).flatMap(({ timerStartedEventAttributes: timer, userMetadata }) =>
    timer && userMetadata?.summary ? [userMetadata.summary] : [],
  );
  return decodeArrayFromPayloads(options.loadedDataConverter, summaries);
}

/** A migration under test. */
export interface TestMigration {
  readonly id: string;
  /** Sends a decision. Returns `applied`, `refused: <reason>`, or `recorded: <text>` if the outcome is not known. */
  readonly send: (message: DecisionMessage, sent: DecisionContent) => Promise<string>;
  /** Waits until the progress meets the condition, and returns the progress. */
  readonly until: (reached: (progress: Progress) => boolean) => Promise<Progress>;
  /** Takes the migration through steps 1 to 4, and supplies the credentials that it was started with. */
  readyToMove(): Promise<void>;
  /** Takes the migration through steps 1 to 4, and waits until its first company has moved. */
  firstCompanyMoved(): Promise<void>;
  /** Takes the migration through steps 1 to 5. */
  readyToComplete(): Promise<void>;
  /** Stores a credential that was obtained just now. Sends no decision. */
  supply(reference: string, credential: string): Promise<void>;
  /** Stores a new credential for a company that was not moved, and sends the `replaceCredential` decision. */
  replace(reference: string, credential: string): Promise<string>;
}

let organizations = 5_000_000_000_000_000;

/** Waits until the progress of a migration meets the condition, and returns the progress. */
export async function waitForProgress(
  ferry: LedgerClient,
  id: string,
  reached: (progress: Progress) => boolean,
): Promise<Progress> {
  let progress = await readProgress(ferry, id);
  await until(async () => reached(progress) || reached((progress = await readProgress(ferry, id))));
  return progress;
}

const approverOf = ({ by, publicKey }: SigningKey): Approver => ({
  role: by === SUPPORT.by ? SUPPORT.role : CLIENT.role,
  by,
  publicKey,
});

/** Starts a migration with one company per test credential. The references are `R-1`, `R-2`, ... */
export async function startTestMigration(
  { ferry }: Orchestrator,
  client: string,
  credentials: readonly string[],
  expectedInvoices: number | null = null,
  {
    slug = 'quickbooks-online',
    label,
    route,
    limits = {},
    waves = [],
    signers = [],
  }: {
    readonly slug?: string;
    readonly label?: string;
    readonly route?: Route;
    readonly limits?: Partial<MigrationLimits>;
    readonly waves?: readonly number[];
    /** The keys of Sam and Cleo, if the migration accepts only signed decisions. */
    readonly signers?: readonly SigningKey[];
  } = {},
): Promise<TestMigration> {
  const platform = findPlatform(slug);
  if (!platform) throw new Error(`${slug} is not in the platform table`);
  const rows = credentials.map((_, index): ManifestRow => {
    organizations += 1;
    const reference = `R-${index + 1}`;
    const organization = String(organizations);
    return {
      row: index + 1,
      reference,
      name: `Company ${index + 1}`,
      organization,
      expectedInvoices,
      wave: waves[index] ?? null,
      family: null,
    };
  });
  const id = await startMigration(ferry, {
    client,
    platform,
    ...(label === undefined ? {} : { label }),
    ...(route === undefined ? {} : { route }),
    limits,
    rows,
    manifestDigest: manifestDigest(rows),
    contact: 'the solutions team',
    by: 'Sam',
    firstCompany: null,
    ...(signers.length === 0 ? {} : { decisions: { approvers: signers.map(approverOf) } }),
  });

  const untilProgress = (reached: (progress: Progress) => boolean) => waitForProgress(ferry, id, reached);
  const send = async (message: DecisionMessage, sent: DecisionContent): Promise<string> => {
    const signer = signers.find(({ by }) => by === sent.by);
    const { outcome, text } = await decide(signer ? { ...ferry, signer } : ferry, id, message, sent);
    return outcome === 'applied' ? outcome : `${outcome}: ${text}`;
  };
  const freshCredential = (reference: string, credential: string): SuppliedCredential => {
    const row = rows.find((each) => each.reference === reference);
    const fields = {
      ...Object.fromEntries(platform.requiredFields.map((field) => [field, 'any'])),
      ...{ refreshToken: credential, [platform.organizationField]: row?.organization ?? '' },
    };
    return { reference, fields: new Secret(fields), obtainedAt: new Date().toISOString() };
  };
  const supply = async (reference: string, credential: string): Promise<void> => {
    await supplyCredentials(ferry.db, id, [freshCredential(reference, credential)], 'Cleo');
  };
  const readyToMove = async (): Promise<void> => {
    await untilProgress(({ preflight }) => preflight !== null);
    await send('approve', { step: 'supply-details', ...SUPPORT });
    await send('proposeTime', { startAt: new Date().toISOString(), ...SUPPORT });
    await send('approve', { step: 'schedule', ...SUPPORT });
    await send('approve', { step: 'schedule', ...CLIENT });
    await send('approve', { step: 'update-application', ...CLIENT });
    await send('approve', { step: 'update-application', ...SUPPORT });
    await send('confirmSyncDisabled', { companies: 'all', ...CLIENT });
    await untilProgress(({ step }) => step === 'migrate-first-company');
    const decisionId = randomUUID();
    const fresh = credentials.map((credential, index) => freshCredential(`R-${index + 1}`, credential));
    await stageCredentials(ferry.db, id, fresh, 'Cleo', { decisionId, replaces: false });
    await send('credentialsSupplied', { decisionId, companies: credentials.length, ...CLIENT });
  };
  const firstCompanyMoved = async (): Promise<void> => {
    await readyToMove();
    await untilProgress(({ firstCompany }) => firstCompany?.stage === 'verified');
  };
  return {
    id,
    send,
    replace: async (reference, credential) => {
      const decisionId = randomUUID();
      const fresh = [freshCredential(reference, credential)];
      await stageCredentials(ferry.db, id, fresh, 'Cleo', { decisionId, replaces: true });
      return send('replaceCredential', { decisionId, companies: [reference], ...SUPPORT });
    },
    until: untilProgress,
    supply,
    readyToMove,
    firstCompanyMoved,
    readyToComplete: async () => {
      await firstCompanyMoved();
      await send('approve', { step: 'migrate-first-company', ...SUPPORT });
    },
  };
}
