/** Collects the evidence of a run for the checker. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Evidence } from './checker';
import type { Cluster } from './cluster';
import { runFerry } from './driver/clients';
import type { ChaosMigration } from './driver/migration';

const REPORT_TRIES = 5;

/** The name of the log of decisions in the folder of a run. */
export const DECISION_LOG = 'decisions.jsonl';

/** The databases and the log of requests that the checker reads. */
export interface EvidenceSources {
  readonly databases: Readonly<Record<'ledger' | 'service', { readonly url: string }>>;
  /** The path of the log of requests. */
  readonly requestLog: string;
}

type Reports = Evidence['reports'][number];

/** Writes the two reports of a migration into the folder. No company of the migration may still be moving. */
export async function writeReports(
  { variables }: Pick<Cluster, 'variables'>,
  id: string,
  folder: string,
): Promise<Reports> {
  const report = async (format: 'json' | 'csv'): Promise<string> => {
    const file = path.join(folder, `${id}.${format}`);
    for (let tries = 1; ; tries += 1) {
      try {
        writeFileSync(file, await runFerry(variables, ['report', id, '--format', format]));
        return file;
      } catch (error) {
        // On a busy machine, `ferry` might not reach Temporal within its five seconds. Try again, as a person would.
        if (tries === REPORT_TRIES) throw error;
      }
    }
  };
  return { migration: id, json: await report('json'), csv: await report('csv') };
}

/** Writes `evidence.json` into the folder, so that the checker's command can repeat the check. */
export function writeEvidence(
  { databases, requestLog }: EvidenceSources,
  migrations: readonly ChaosMigration[],
  reports: readonly Reports[],
  folder: string,
): Evidence {
  const evidence: Evidence = {
    ledgerUrl: databases.ledger.url,
    serviceDatabaseUrl: databases.service.url,
    requestLog,
    decisionLog: path.join(folder, DECISION_LOG),
    reports,
    credentials: migrations.flatMap(({ suppliedTokens }) => suppliedTokens),
    windows: migrations.map(({ id }) => ({ migration: id, windows: [] })),
  };
  writeFileSync(path.join(folder, 'evidence.json'), JSON.stringify(evidence, null, 2));
  return evidence;
}
