import type { KyselyPlugin } from 'kysely';
import type { VaultKeyWrapper } from '../../../security';
import type { Database } from '../../../store';
import { startHttpProxy, sendAnswer, type Interceptor } from './http-proxy';

/** A fault that a worker meets at one point. */
export type Fault =
  /** The operation succeeds, but the worker never learns of it and does nothing more. */
  | 'dies'
  /** The operation fails and has no effect. */
  | 'fails'
  /** The operation succeeds, but the worker sees a failure. */
  | 'loses the answer'
  /** This fault and the next one apply only to calls to the service. */
  | 'is answered 500'
  | 'is not answered';

/** The dependencies of a worker, wrapped so that a fault can be injected at each point. */
export interface CrashableWorker {
  readonly db: Database;
  readonly keys: VaultKeyWrapper;
  /** The address that the worker uses for the service. */
  readonly serviceUrl: string;
  /** The points so far, in order: SQL statements, calls to the service, unwrapped keys and erased vault secrets. */
  readonly points: readonly string[];
  /** The credentials that the service received, in order, and whether it accepted them. */
  readonly crossings: readonly { readonly token: string; readonly accepted: boolean }[];
  /** Replaces a worker that has died. The service no longer knows the idempotency keys of the old worker. */
  restart(): void;
  close(): Promise<void>;
}

export interface InjectedFault {
  /** The number of the point, from 0. */
  readonly at: number;
  readonly fault: Fault;
}

/** Thrown for the faults `dies`, `fails` and `loses the answer`, and at every later point of a worker that has died. */
class FaultInjected extends Error {
  override readonly name = 'FaultInjected';
}

/** Wraps a ledger, a vault key wrapper and a service, and injects faults at the given points. */
export async function startCrashableWorker(
  dependencies: { readonly db: Database; readonly keys: VaultKeyWrapper; readonly serviceUrl: string },
  faults: readonly InjectedFault[],
): Promise<CrashableWorker> {
  const points: string[] = [];
  const crossings: { token: string; accepted: boolean }[] = [];
  let dead = false;
  let generation = 1;

  /** Registers a point. The caller calls `done` when the operation has been executed. */
  function reach(point: string): { readonly fault: Fault | undefined; readonly done: () => void } {
    if (dead) throw new FaultInjected(`the worker died before: ${point}`);
    const at = points.push(point) - 1;
    const fault = faults.find((each) => each.at === at)?.fault;
    if (fault === 'fails') throw new FaultInjected(`instead of: ${point}`);
    return {
      fault,
      done: () => {
        if (fault === 'dies') dead = true;
        if (fault === 'dies' || fault === 'loses the answer') throw new FaultInjected(`after: ${point}`);
      },
    };
  }

  const pending = new WeakMap<object, () => void>();
  const statements: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      pending.set(queryId, reach(nameOf(node)).done);
      return node;
    },
    transformResult: async ({ result, queryId }) => {
      pending.get(queryId)?.();
      return result;
    },
  };

  // The proxy closes the connection when an interceptor throws.
  const calls: Interceptor = async (response, { method, url, headers, body }, pass) => {
    const key = headers['idempotency-key'];
    if (typeof key === 'string') headers['idempotency-key'] = keyOfGeneration(generation, key);
    const { fault, done } = reach(`${method} ${pathOf(url)}`);
    if (fault === 'is not answered') return;
    if (fault === 'is answered 500') {
      response.writeHead(500).end();
      return;
    }
    const answer = await pass();
    if (method === 'PUT') crossings.push({ token: body, accepted: answer.body.includes('"status":"Linked"') });
    done();
    sendAnswer(response, answer);
  };
  const proxy = await startHttpProxy(dependencies.serviceUrl);
  for (const method of ['GET', 'POST', 'PUT', 'DELETE']) proxy.on(method, /./, calls);

  return {
    db: dependencies.db.withPlugin(statements),
    keys: {
      newestKeyId: dependencies.keys.newestKeyId,
      providerPublicKey: dependencies.keys.providerPublicKey,
      signMigrationKey: (facts) => dependencies.keys.signMigrationKey(facts),
      wrap: (id, key) => dependencies.keys.wrap(id, key),
      unwrap: async (id, wrapped) => {
        const { done } = reach('unwrap the key');
        const key = await dependencies.keys.unwrap(id, wrapped);
        done();
        return key;
      },
      erase: async (id, secretId, keepId) => {
        const { done } = reach('erase the secret');
        await dependencies.keys.erase(id, secretId, keepId);
        done();
      },
    },
    serviceUrl: proxy.url,
    points,
    crossings,
    restart: () => {
      dead = false;
      generation += 1;
    },
    close: () => proxy.close(),
  };
}

/** Changes an idempotency key for each restarted worker, as if the service had forgotten the old one. */
function keyOfGeneration(generation: number, key: string): string {
  return key.slice(0, -2) + generation.toString(16).padStart(2, '0');
}

/** Returns a path without ids and query, such as `/companies/{id}/dataStatus`. */
function pathOf(url: string): string {
  return url.replace(/\?.*/, '').replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '{id}');
}

/** Returns a short name of a statement: the beginning of raw SQL, or the kind and the table of a built query. */
function nameOf(node: object): string {
  if ('sqlFragments' in node && Array.isArray(node.sqlFragments)) {
    return node.sqlFragments.join('?').replace(/\s+/g, ' ').trim().slice(0, 70);
  }
  const { kind } = node as { kind: string };
  const [, table] = /"identifier":\{"kind":"IdentifierNode","name":"(\w+)"/.exec(JSON.stringify(node)) ?? [];
  return `${kind.replace('QueryNode', '').toLowerCase()} ${table}`;
}
