import type { KyselyPlugin } from 'kysely';
import type { KeyProvider } from '../../security';
import type { Database } from '../../store';
import { startHttpProxy, sendAnswer, type Interceptor } from './http-proxy';

/** What happens to a worker at one point of its way. */
export type Fault =
  /** It did what it was about to, and never heard of it; from then on it does nothing any more. */
  | 'dies'
  /** It is told of a failure, and nothing was done. */
  | 'fails'
  /** It is told of a failure, and it was done all the same. */
  | 'loses the answer'
  /** Of calls to the service alone. */
  | 'is answered 500'
  | 'is not answered';

/** What a worker does to the world, each a point at which something can happen to it. */
export interface CrashableWorker {
  readonly db: Database;
  readonly keys: KeyProvider;
  /** Where the worker believes the service to be. */
  readonly serviceUrl: string;
  /** What was done so far, in order: statements, calls and keys asked for. */
  readonly points: readonly string[];
  /** Credentials as the service received them, in order, and whether it accepted them. */
  readonly crossings: readonly { readonly token: string; readonly accepted: boolean }[];
  /** Another worker takes the place of one that died, after so long that the service has forgotten its keys. */
  restart(): void;
  close(): Promise<void>;
}

export interface InjectedFault {
  /** Which point, counted from 0. */
  readonly at: number;
  readonly fault: Fault;
}

/** What whoever is struck hears of it. */
class FaultInjected extends Error {
  override readonly name = 'Blown';
}

/** A worker's way proxy its ledger, its keys and its service, with blows at the given points. */
export async function startCrashableWorker(
  world: { readonly db: Database; readonly keys: KeyProvider; readonly serviceUrl: string },
  blows: readonly InjectedFault[],
): Promise<CrashableWorker> {
  const points: string[] = [];
  const crossings: { token: string; accepted: boolean }[] = [];
  let dead = false;
  let lives = 1;

  /** The worker comes to a point; `done` is called when what it does there has been done. */
  function come(point: string): { readonly blow: Fault | undefined; readonly done: () => void } {
    if (dead) throw new FaultInjected(`dead before: ${point}`);
    const at = points.push(point) - 1;
    const blow = blows.find((each) => each.at === at)?.fault;
    if (blow === 'fails') throw new FaultInjected(`instead of: ${point}`);
    return {
      blow,
      done: () => {
        if (blow === 'dies') dead = true;
        if (blow === 'dies' || blow === 'loses the answer') throw new FaultInjected(`after: ${point}`);
      },
    };
  }

  const underWay = new WeakMap<object, () => void>();
  const statements: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      underWay.set(queryId, come(nameOf(node)).done);
      return node;
    },
    transformResult: async ({ result, queryId }) => {
      underWay.get(queryId)?.();
      return result;
    },
  };

  // What is thrown ends the connection.
  const calls: Interceptor = async (response, { method, url, headers, body }, pass) => {
    headers['idempotency-key'] = ofLife(lives, headers['idempotency-key']);
    const { blow, done } = come(`${method} ${pathOf(url)}`);
    if (blow === 'is not answered') return;
    if (blow === 'is answered 500') {
      response.writeHead(500).end();
      return;
    }
    const answer = await pass();
    if (method === 'PUT') crossings.push({ token: body, accepted: answer.body.includes('"status":"Linked"') });
    done();
    sendAnswer(response, answer);
  };
  const proxy = await startHttpProxy(world.serviceUrl);
  for (const method of ['GET', 'POST', 'PUT', 'DELETE']) proxy.on(method, /./, calls);

  return {
    db: world.db.withPlugin(statements),
    keys: {
      newestKeyId: world.keys.newestKeyId,
      wrap: (key) => world.keys.wrap(key),
      unwrap: async (id, wrapped) => {
        const { done } = come('unwrap the key');
        const key = await world.keys.unwrap(id, wrapped);
        done();
        return key;
      },
    },
    serviceUrl: proxy.url,
    points,
    crossings,
    restart: () => {
      dead = false;
      lives += 1;
    },
    close: () => proxy.close(),
  };
}

/** The service forgets keys in time: by the next life it has. */
function ofLife(lives: number, key: string | string[] | undefined): string | undefined {
  return typeof key === 'string' ? key.slice(0, -2) + lives.toString(16).padStart(2, '0') : undefined;
}

/** `GET /companies/{id}/dataStatus`, without what differs from company to company. */
function pathOf(url: string): string {
  return url.replace(/\?.*/, '').replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '{id}');
}

/** The first words of a statement: enough to tell those of a company's way apart. */
function nameOf(node: object): string {
  if ('sqlFragments' in node && Array.isArray(node.sqlFragments)) {
    return node.sqlFragments.join('?').replace(/\s+/g, ' ').trim().slice(0, 70);
  }
  const { kind } = node as { kind: string };
  const [, table] = /"identifier":\{"kind":"IdentifierNode","name":"(\w+)"/.exec(JSON.stringify(node)) ?? [];
  return `${kind.replace('QueryNode', '').toLowerCase()} ${table}`;
}
