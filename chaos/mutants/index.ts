/**
 * Tests the checker with mutants, which are broken builds of the product: for each invariant, a build that breaks it
 * runs a small migration, and the checker must name exactly this invariant. For the unchanged build, it must name none.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { openLedgerClient } from '../../client';
import { loadConfig } from '../../config';
import { startSupervised, tailOf } from '../../stack/process/supervised-process';
import { check, type CheckResult, type Evidence, type Invariant } from '../checker';
import { requestLogAt, startHttpProxy, type RequestFault } from '../cluster';
import { runFerry } from '../driver/clients';
import { MUTANTS, UNCHANGED_BUILD, type Mutant, type Scenario } from './mutants';
import { copyBuild } from './copy';
import { withMutantEnvironment, type MutantEnvironment } from './environment';
import { runScenario } from './scenario';

/** The result for one mutant. */
export interface MutantResult {
  /** The invariant that the mutant breaks; null for the unchanged build. */
  readonly invariant: Invariant | null;
  readonly defect: string;
  /** The invariants that the checker named. */
  readonly named: readonly Invariant[];
  /** True if the checker named exactly the broken invariant. */
  readonly passed: boolean;
  readonly violations: CheckResult['violations'];
  /** The reason why the mutant has no result. */
  readonly error?: string;
  readonly tookMs: number;
}

export interface MutantOptions {
  /** The environment variables that locate the `temporal` command. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  /** The mutants to run. Default: the unchanged build and one for each invariant. */
  readonly only?: readonly (Invariant | null)[];
}

const USUAL: Scenario = { windows: [], lostAnswer: null, approvesFirst: true, waitingAtEnd: 1, cancels: false };
const FIRST_ORGANIZATION = 1_000;
const ORGANIZATIONS_PER_MUTANT = 100;

/**
 * Runs the mutants one after another, each with a migration of its own.
 *
 * @throws if a server of the environment does not start
 */
export async function runMutants({ env, log, only }: MutantOptions): Promise<readonly MutantResult[]> {
  const mutants = [UNCHANGED_BUILD, ...MUTANTS].filter(
    ({ invariant }) => only === undefined || only.includes(invariant),
  );
  const namespaces = mutants.map(nameOf);
  return withMutantEnvironment({ env, namespaces, log }, async (environment) => {
    const results: MutantResult[] = [];
    for (const [index, mutant] of mutants.entries()) {
      const result = await runMutant(environment, mutant, FIRST_ORGANIZATION + index * ORGANIZATIONS_PER_MUTANT);
      results.push(result);
      const { passed, defect, named, error, tookMs } = result;
      const text = error ?? `the checker named ${named.join(', ') || 'nothing'}`;
      log(`${passed ? 'passed' : 'FAILED'}: a build that ${defect}: ${text} (${Math.round(tookMs / 1_000)} s)`);
    }
    return results;
  });
}

async function runMutant(environment: MutantEnvironment, mutant: Mutant, organization: number): Promise<MutantResult> {
  const { invariant, defect } = mutant;
  const startedAt = performance.now();
  const tookMs = (): number => Math.round(performance.now() - startedAt);
  try {
    const { violations } = await checkMigration(environment, mutant, organization);
    const named = [...new Set(violations.map((violation) => violation.invariant))];
    return { invariant, defect, named, passed: named.join() === (invariant ?? ''), violations, tookMs: tookMs() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { invariant, defect, named: [], passed: false, violations: [], error: message, tookMs: tookMs() };
  }
}

const nameOf = ({ invariant }: Mutant): string => invariant ?? 'unchanged';

/** Runs a migration with the mutant, and the checker on its evidence. */
async function checkMigration(
  environment: MutantEnvironment,
  mutant: Mutant,
  organization: number,
): Promise<CheckResult> {
  const name = nameOf(mutant);
  const folder = path.join(environment.folder, name);
  const dist = copyBuild(folder, mutant.edits);
  const scenario = { ...USUAL, ...mutant.scenario };
  const file = (base: string, content = ''): string => {
    const at = path.join(folder, base);
    writeFileSync(at, content);
    return at;
  };
  const [requestLog, decisionLog] = [file('requests.jsonl'), file('decisions.jsonl')];
  const variables = { ...environment.variables, TEMPORAL_NAMESPACE: name };
  const ferry = await openLedgerClient(loadConfig(['temporal', 'databaseUrl', 'payloadKeys'], variables), {
    createLedger: true,
  });
  const proxy = await startHttpProxy({ worker: name, target: environment.serviceUrl, log: requestLogAt(requestLog) });
  const logFile = path.join(folder, 'worker.log');
  const worker = startSupervised({
    command: process.execPath,
    args: [path.join(dist, 'worker', 'main.js')],
    env: { ...variables, COMPANY_DATA_URL: proxy.url },
    logFile,
    stopSignal: 'SIGTERM',
    graceMs: 0,
  });
  try {
    const onFirstMoved = (): void => proxy.setFault(losing(scenario.lostAnswer));
    const { id: migration, suppliedTokens } = await runScenario({
      ...{ ferry, name, organization, scenario, decisionLog, onFirstMoved },
    });
    const report = async (format: string): Promise<string> =>
      file(`report.${format}`, await runFerry(variables, ['report', migration, '--format', format], dist));
    const evidence: Evidence = {
      ledgerUrl: environment.variables['DATABASE_URL'] ?? '',
      serviceDatabaseUrl: environment.serviceDatabaseUrl,
      ...{ requestLog, decisionLog, credentials: suppliedTokens },
      reports: [{ migration, json: await report('json'), csv: await report('csv') }],
      windows: [{ migration, windows: scenario.windows }],
    };
    return await check(evidence);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${message}. The worker's log ends with:\n${tailOf(logFile)}`, { cause: error });
  } finally {
    await worker.stop();
    await proxy.close();
    await ferry.close();
  }
}

/**
 * Returns the fault that loses the first answer to a request with the method and path of `lost`. If `lost` is null, it
 * loses none.
 */
function losing(lost: Scenario['lostAnswer']): RequestFault {
  let left = lost === null ? 0 : 1;
  return ({ method, path: requested }) => {
    if (left === 0 || method !== lost?.method || !lost.path.test(requested)) return 'forward';
    left -= 1;
    return 'loseAnswer';
  };
}
