import {
  type CompanyDataClient,
  CompanyDataError,
  type CompanyDataClientOptions,
  createCompanyDataClient,
} from '../../company-data-client';
import { Secret } from '../../security/secret';
import { type MisbehavingService, startMisbehavingService } from './misbehaving-service';

/** Ids in responses are UUIDs. Ids in requests can be any text, because the service's replies do not depend on them. */
export const ID = '5b0c4c1e-7d52-4a55-9f0e-1c2d3e4f5a6b';
export const COMPANY = { id: ID, name: 'Bakery' };
export const CONNECTION = { id: ID, status: 'Linked' };

interface ServiceAndClients {
  readonly service: Omit<MisbehavingService, 'close'>;
  /** Creates a client of the service. The client is closed after the test. */
  readonly clientWith: (options?: Partial<CompanyDataClientOptions>) => CompanyDataClient;
}

/** Starts a service for the tests of a file. `defaults` are the default options of its clients. */
export function useMisbehavingService(defaults: Partial<CompanyDataClientOptions>): ServiceAndClients {
  const clients: CompanyDataClient[] = [];
  let started: MisbehavingService | undefined;
  const running = (): MisbehavingService => {
    if (!started) throw new Error('The service is running only during tests.');
    return started;
  };

  beforeAll(async () => {
    started = await startMisbehavingService();
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  afterAll(() => started?.close());

  return {
    service: {
      get url() {
        return running().url;
      },
      get arrived() {
        return running().arrived;
      },
      answer: (...replies) => running().answer(...replies),
    },
    clientWith(options) {
      const client = createCompanyDataClient({
        baseUrl: running().url,
        apiKey: new Secret('key'),
        ...defaults,
        ...options,
      });
      clients.push(client);
      return client;
    },
  };
}

/** Returns the error with which a call fails. */
export async function failureOf(call: Promise<unknown>): Promise<CompanyDataError> {
  const outcome = await call.then(
    () => 'a success',
    (error: unknown) => error,
  );
  if (outcome instanceof CompanyDataError) return outcome;
  throw new Error(`expected a CompanyDataError, got ${String(outcome)}`);
}
