/** Joins what the ledger, the service, the platforms and the log of requests say about each row. */
import type { LoggedRequest, SuppliedToken } from './evidence';
import type { Ledger, LedgerMigration, LedgerRow } from './ledger';
import type { PlatformToken, Service, ServiceCompany, ServiceConnection } from './service';

/** A worker's request with a credential. The service did not receive it if `forwarded` is false. */
export interface Send {
  readonly at: number;
  readonly connectionId: string;
  /** The digest of the authorization body. */
  readonly body: string | null;
  readonly forwarded: boolean;
  /** The status of the service's answer; null if the service did not answer, or a fault replaced its answer. */
  readonly status: number | null;
  /** True if a complete answer, from the service or from a fault, was written to the worker's connection. */
  readonly delivered: boolean;
}

export interface RowFacts {
  readonly row: LedgerRow;
  readonly migration: LedgerMigration;
  /** The companies with the tag of the row, and the one that the ledger names. */
  readonly companies: readonly ServiceCompany[];
  /** All connections of these companies to the platform of the row. */
  readonly connections: readonly ServiceConnection[];
  /** The connection that the ledger names; undefined if it names none or the service does not have it. */
  readonly own: ServiceConnection | undefined;
  readonly tokens: readonly SuppliedToken[];
  readonly platformTokens: readonly PlatformToken[];
  /** In chronological order. */
  readonly sends: readonly Send[];
}

const AUTHORIZATION = /\/connections\/([0-9a-f-]{36})\/authorization$/;

/** Returns the authorizations in the log, in chronological order. */
export function sendsOf(requests: readonly LoggedRequest[]): readonly Send[] {
  return requests
    .flatMap(({ at, method, path, status, forwarded, delivered, injected, credential }) => {
      const connectionId = AUTHORIZATION.exec(path.split('?', 1)[0] ?? '')?.[1];
      if (method !== 'PUT' || connectionId === undefined) return [];
      const answer = injected ? null : status;
      return [{ at: Date.parse(at), connectionId, body: credential, forwarded, delivered, status: answer }];
    })
    .sort((one, other) => one.at - other.at);
}

/** Returns the facts of every row of the ledger. */
export function joinFacts(
  ledger: Ledger,
  service: Service,
  credentials: readonly SuppliedToken[],
  sends: readonly Send[],
): readonly RowFacts[] {
  const tokensOf = groupBy(credentials, ({ migration, reference }) => `${migration}/${reference}`);
  const byBody = groupBy(sends, ({ body }) => body ?? '');
  const byConnection = groupBy(sends, ({ connectionId }) => connectionId);
  return ledger.rows.flatMap((row) => {
    const migration = ledger.migrations.get(row.migration);
    if (migration === undefined) return [];
    const named = row.companyId === null ? undefined : service.companies.get(row.companyId);
    const companies = [
      ...new Set([...(service.byTag.get(`${row.migration}/${row.row}`) ?? []), ...(named ? [named] : [])]),
    ];
    const connections = companies
      .flatMap((company) => company.connections)
      .filter(({ platformKey }) => platformKey === row.platformKey);
    const tokens = tokensOf.get(`${row.migration}/${row.reference}`) ?? [];
    const sent = [
      ...tokens.flatMap(({ bodySha256 }) => byBody.get(bodySha256) ?? []),
      ...connections.flatMap(({ id }) => byConnection.get(id) ?? []),
    ];
    return {
      row,
      migration,
      companies,
      connections,
      own: connections.find(({ id }) => id === row.connectionId),
      tokens,
      platformTokens: tokens.flatMap(({ sha256 }) => service.tokens.get(sha256) ?? []),
      sends: [...new Set(sent)].sort((one, other) => one.at - other.at),
    };
  });
}

/** Returns whether this connection is authorized for the organization of the row. */
export function isLinkedTo({ organization }: LedgerRow, { status, organizationId }: ServiceConnection): boolean {
  return status === 'Linked' && organizationId === organization;
}

/** Returns whether the connection has data sets, and all of them have been synced. */
export function isComplete({ dataTypes, incomplete }: ServiceConnection): boolean {
  return dataTypes > 0 && incomplete === 0;
}

/**
 * Returns true if the connection is deauthorized, or one of its syncs has ended with `AuthError`. Both happen if the
 * platform ends the grant.
 */
export function hasGrantEnded({ status, authErrors }: ServiceConnection): boolean {
  return authErrors || status === 'Deauthorized';
}

/** Returns whether the service has used a token of the row, or holds an authorization for a connection of the row. */
export function isUsedByService({ platformTokens, connections }: RowFacts): boolean {
  return (
    platformTokens.some(({ usedByService }) => usedByService) ||
    connections.some((each) => each.acceptedDigest !== null)
  );
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
