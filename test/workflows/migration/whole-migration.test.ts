import path from 'node:path';
import {
  decide,
  readReport,
  startMigration,
  type DecisionResult,
  type DecisionContent,
  type LedgerCompany,
} from '../../../client';
import { readManifest } from '../../../cli/manifest';
import type { Progress } from '../../../domain/progress/progress';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { supplyCredentials } from '../../../store';
import { readWholeCredentials } from '../../cli/manifest/manifest-files';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { platform } from '../../support/migrations/platforms';
import { CLIENT as client, waitForProgress, SUPPORT as support } from '../running-migration';

const EXAMPLE = path.join(__dirname, '../../../examples/quickbooks-online-25');
const quickBooks = platform('quickbooks-online');

const orchestrator = useOrchestratorWithWorker();

test('25 companies go through the six steps: 23 are moved, one must reconnect, one is incomplete', async () => {
  const { ferry } = orchestrator;
  const manifest = await readManifest({ manifest: path.join(EXAMPLE, 'manifest.csv') }, quickBooks);
  const id = await startMigration(ferry, {
    client: 'entire',
    platform: quickBooks,
    rows: manifest.rows,
    manifestDigest: manifest.digest,
    contact: 'solutions team',
    by: 'Sam',
    firstCompany: null,
  });
  const send = async (message: DecisionMessage, sent: DecisionContent): Promise<DecisionResult['outcome']> =>
    (await decide(ferry, id, message, sent)).outcome;
  const until = (reached: (progress: Progress) => boolean) => waitForProgress(ferry, id, reached);

  await until(({ preflight }) => preflight !== null);
  expect(await send('approve', { step: 'supply-details', ...client })).toBe('refused');
  expect(await send('approve', { step: 'supply-details', ...support })).toBe('applied');
  await until(({ estimate }) => estimate !== null);
  expect(await send('proposeTime', { startAt: new Date().toISOString(), ...support })).toBe('applied');
  expect(await send('approve', { step: 'schedule', ...support })).toBe('applied');
  expect(await send('approve', { step: 'schedule', ...client })).toBe('applied');
  expect(await send('approve', { step: 'update-application', ...client })).toBe('applied');
  expect(await send('approve', { step: 'update-application', ...support })).toBe('applied');
  expect(await send('confirmSyncDisabled', { companies: 'all', ...client })).toBe('applied');
  await until(({ step }) => step === 'migrate-first-company');

  const { credentials } = await readWholeCredentials(path.join(EXAMPLE, 'credentials.csv'), quickBooks);
  const fresh = credentials.map((credential) => ({ ...credential, obtainedAt: new Date().toISOString() }));
  const supplied = await supplyCredentials(ferry.db, id, fresh, 'Cleo');
  expect(supplied).toMatchObject({ unknown: [], wrongState: [], obtainedTooEarly: [] });
  expect(supplied.stored).toHaveLength(25);
  expect(await send('credentialsSupplied', { companies: 25, ...client })).toBe('applied');

  const { firstCompany } = await until((progress) => progress.firstCompany?.stage === 'verified');
  expect(firstCompany?.evidence.every(({ passed }) => passed)).toBe(true);
  expect(await send('approve', { step: 'migrate-first-company', ...support })).toBe('applied');
  await until(({ waitingFor }) => waitingFor.what === 'sign off the handover');
  expect(await send('approve', { step: 'complete-migration', ...support })).toBe('applied');
  expect(await send('approve', { step: 'complete-migration', ...client })).toBe('applied');

  const result = (await ferry.temporal.workflow.getHandle(id).result()) as { ending: string };
  expect(result).toMatchObject({ ending: 'completed', counts: { total: 25, moved: 23, failed: 2 } });
  const report = await readReport(ferry, id);
  const companies: LedgerCompany[] = [];
  for await (const company of report.companies()) companies.push(company);
  const failed = companies.filter(({ state }) => state === 'failed');
  expect(failed.map(({ failure }) => failure).sort()).toEqual(['incomplete', 'reauthorization-required']);
  expect(failed.find(({ failure }) => failure === 'reauthorization-required')?.linkUrl).toMatch(/^http/);
  expect(failed.find(({ failure }) => failure === 'incomplete')?.failureText).toMatch(/\d+ expected, \d+ found/);
  expect(report.head.vaultDestroyedAt).not.toBeNull();
  expect(report.head.decisions.filter(({ outcome }) => !outcome.applied)).toHaveLength(1);
});
