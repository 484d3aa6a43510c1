/** Everything that the command needs, looked at side by side; whatever is missing keeps nothing else from being looked at. */
import { packageJson } from '../shared/context';
import { examineCodec } from './codec';
import { configured } from './configured';
import { examineDatabase } from './database';
import type { ClockReading, Examined } from './finding';
import { examineClock, examineNode, examineSigningKey } from './this-machine';
import { examineService } from './service';
import { examineTemporal } from './temporal';

export type { Examined } from './finding';

const FOR_THE_SERVICE = 'check, application, go-nogo and self-service need it: COMPANY_DATA_URL, COMPANY_DATA_API_KEY';
const FOR_SIGNING = 'decisions are not signed; make one with: ferry keys create';

export async function examineAll(env: NodeJS.ProcessEnv): Promise<readonly Examined[]> {
  const temporal = configured(env, 'temporal', 'Temporal');
  const payloadKeys = configured(env, 'payloadKeys', 'payload key');
  const namespace = 'value' in temporal ? temporal.value.namespace : 'default';
  const clocks: ClockReading[] = [];
  const [ofTemporal, ofDatabase, ofService, ofCodec] = await Promise.all([
    examineTemporal(temporal, payloadKeys),
    examineDatabase(configured(env, 'databaseUrl', 'database'), clocks),
    examineService(configured(env, 'service', 'service', FOR_THE_SERVICE), clocks),
    examineCodec(env, namespace, payloadKeys),
  ]);
  return [
    examineNode(process.versions.node, packageJson().engines.node),
    ...ofTemporal,
    ...ofDatabase,
    ...ofService,
    ...ofCodec,
    examineSigningKey(configured(env, 'signingKey', 'signing key', FOR_SIGNING)),
    examineClock(clocks),
  ];
}
