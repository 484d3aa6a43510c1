/**
 * The checks of `ferry doctor`. The servers are checked in parallel, and then the ledger, if its prerequisites are met.
 * A failed check stops only the checks that depend on it.
 */
import { packageJson } from '../shared/context';
import { checkCodecServer } from './codec-server';
import { readConfig, type ClockReading, type CheckResult } from './check-result';
import { checkDatabase, isSchemaCurrent } from './database';
import { checkClocks, checkNodeVersion, checkSigningKey, sharedTimeMs } from './this-machine';
import { checkLedger } from './ledger';
import { checkService } from './service';
import { checkTemporal, isNamespaceUsable, PAYLOAD_KEY } from './temporal';

export type { CheckResult } from './check-result';

const FOR_THE_SERVICE =
  'the command ferry application needs the service. The commands ferry check, ferry go-nogo, ferry self-service and ferry start --dry-run use it to check the account. If you run any of these commands on this machine, set COMPANY_DATA_URL and COMPANY_DATA_API_KEY';
const FOR_SIGNING = 'decisions are not signed; to sign decisions, create a key with: ferry keys create';

export async function checkEverything(env: NodeJS.ProcessEnv): Promise<readonly CheckResult[]> {
  const temporal = readConfig(env, 'temporal', 'Temporal');
  const payloadKeys = readConfig(env, 'payloadKeys', PAYLOAD_KEY);
  const namespace = 'value' in temporal ? temporal.value.namespace : 'default';
  const clocks: ClockReading[] = [];
  const stackCodecUrl = readStackCodecUrl(env);
  const database = checkDatabase(readConfig(env, 'databaseUrl', 'database'), clocks, env);
  const service = checkService(readConfig(env, 'service', 'service', FOR_THE_SERVICE), clocks, env);
  const nowMs = Promise.all([database, service]).then(() => sharedTimeMs(clocks));
  const inTemporal = checkTemporal(temporal, payloadKeys, nowMs, env);
  // If the key of this machine is wrong, a codec server with the right key does not decrypt its payloads either.
  const codec = inTemporal.then((checks) => {
    const unusable = checks.find(({ check, verdict }) => check === PAYLOAD_KEY && verdict === 'problem');
    return checkCodecServer(env, namespace, unusable ? { unusable } : payloadKeys, stackCodecUrl);
  });
  const [temporalChecks, databaseChecks, serviceChecks, codecChecks] = await Promise.all([
    inTemporal,
    database,
    service,
    codec,
  ]);
  const isReady = isNamespaceUsable(temporalChecks) && 'value' in payloadKeys && isSchemaCurrent(databaseChecks);
  return [
    checkNodeVersion(process.versions.node, packageJson().engines.node),
    ...temporalChecks,
    ...databaseChecks,
    ...(await checkLedger(env, isReady)),
    ...serviceChecks,
    ...codecChecks,
    checkSigningKey(readConfig(env, 'signingKey', 'signing key', FOR_SIGNING)),
    checkClocks(clocks),
  ];
}

/**
 * Returns the address of the running stack's codec server; undefined if no stack is running, or the environment points
 * to another Temporal server.
 */
function readStackCodecUrl(env: NodeJS.ProcessEnv): string | undefined {
  const codec = readConfig(env, 'stackCodecUrl', 'codec server', 'the codec server is checked if it is configured');
  return 'value' in codec ? codec.value : undefined;
}
