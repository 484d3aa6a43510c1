/**
 * Calls the functions of the Postgres schema `tokenferry_portal`, the only objects that the portal's database role can
 * use. Functions about a migration take the hash of a session, and return nothing if the session has ended.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { openPool } from '../../postgres/pool';
import type { CompanyState } from '../../domain/companies/company-state';
import type { CredentialState } from '../../domain/companies/credential-state';
import type { FailureKind } from '../../domain/companies/failures';
import type { PortalRequestKind, RequestAnswer } from '../contract/requests';
import type { MigrationView } from '../contract/migration-view';
import type { PORTAL_ROLES } from '../contract/session';

/** A session, as the database knows it. */
export interface SessionRow {
  readonly invitationId: string;
  readonly migrationId: string;
  readonly person: string;
  readonly role: (typeof PORTAL_ROLES)[number];
  readonly publicKey: string | null;
  readonly isKeyConfirmed: boolean;
  /** ISO 8601, UTC. */
  readonly expiresAt: string;
}

export interface ViewRow {
  readonly view: MigrationView;
  /** ISO 8601, UTC. */
  readonly writtenAt: string;
  readonly isCurrent: boolean;
}

/** The version of a view, with its content if the caller does not know this version. */
export interface ChangedView extends Omit<ViewRow, 'view'> {
  /** Null if the caller knows this version. */
  readonly view: MigrationView | null;
  /** Identifies the content of the view. */
  readonly version: string;
  /** Milliseconds since the view was written. */
  readonly ageMs: number;
}

/** The ledger's facts about a company. */
export interface CompanyRow {
  readonly row: number;
  readonly reference: string;
  readonly name: string;
  readonly organization: string;
  readonly wave: number | null;
  readonly state: CompanyState;
  readonly failure: FailureKind | null;
  readonly failureText: string | null;
  readonly heldBack: string | null;
  readonly leftOutReason: string | null;
  readonly isDeferred: boolean;
  /** When the delay of a deferred company has passed; null if it has none, or if the company is not deferred. */
  readonly retryAt: Date | null;
  /** Number of times that its import was tried. */
  readonly tries: number;
  readonly confirmedAt: Date | null;
  /** Null if the company is not waiting, or if the migration has ended. */
  readonly credential: CredentialState | null;
  readonly movedAt: Date | null;
  /** When the service accepted its credential; null if it has not. */
  readonly crossedAt: Date | null;
  /** The link to reconnect; null if there is none, or if the company does not need it. */
  readonly linkUrl: string | null;
  /**
   * True if the application with which the company was connected was replaced, until its end customer has reconnected.
   */
  readonly dependsOnReplaced: boolean;
  /** True if the migration or its workflow has ended, so that it accepts no more decisions. */
  readonly hasEnded: boolean;
}

export interface CompanyQuery {
  readonly state: string | null;
  readonly exceptions: boolean;
  readonly search: string | null;
  readonly afterRow: number;
  readonly max: number;
}

export interface Redemption {
  readonly tokenHash: Buffer;
  readonly sessionHash: Buffer;
  readonly publicKey: string | null;
  readonly lifetimeMs: number;
}

/** A request to sign in without an invitation's link. A worker checks the proof and creates the session. */
export interface SignInRequest {
  readonly sessionHash: Buffer;
  readonly migrationId: string;
  readonly publicKey: string;
  /** The account of the person; absent if the key is the proof. */
  readonly identity?: { readonly issuer: string; readonly subject: string; readonly email: string };
  readonly proof: object;
  readonly lifetimeMs: number;
}

/** A statement that takes longer than this fails, so that requests do not pile up while the database is slow. */
const STATEMENT_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
/**
 * A view that is younger than this is returned at once. About every 2 seconds, workers write the views that are being
 * read, so an older view has probably not been read recently.
 */
const RECENT_MS = 5_000;
/** If no worker writes a newer view within this time, the old one is returned. */
export const WAIT_FOR_NEWER_MS = 6_000;
const READ_AGAIN_AFTER_MS = 300;

export class PortalDatabase {
  private constructor(private readonly db: Kysely<unknown>) {}

  static open(databaseUrl: string, connections: number): PortalDatabase {
    const pool = openPool({
      connectionString: databaseUrl,
      max: connections,
      application_name: 'tokenferry-portal',
      statement_timeout: STATEMENT_TIMEOUT_MS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    return new PortalDatabase(new Kysely({ dialect: new PostgresDialect({ pool }) }));
  }

  /** Resolves if the database answers. */
  async ping(): Promise<void> {
    await sql`select 1`.execute(this.db);
  }

  async close(): Promise<void> {
    await this.db.destroy();
  }

  /** Creates a session for an invitation; undefined if the invitation cannot be used. */
  async redeem({ tokenHash, sessionHash, publicKey, lifetimeMs }: Redemption): Promise<SessionRow | undefined> {
    const { rows } = await sql<StoredSession>`
      select ${SESSION} from tokenferry_portal.redeem(${tokenHash}, ${sessionHash}, ${publicKey}, ${lifetimeMs}::bigint)`.execute(
      this.db,
    );
    return sessionOf(rows);
  }

  /**
   * Stores a request to sign in. `exists`: the same request is stored already. `refused`: the request is malformed, or
   * no invitation has the key or the account. `busy`: there are too many requests; `busyForS` is the number of seconds
   * until the key can be used again, or null if another limit was reached.
   */
  async requestSignIn(request: SignInRequest): Promise<RequestedSignIn> {
    const { sessionHash, migrationId, publicKey, identity, proof, lifetimeMs } = request;
    const content = JSON.stringify(proof);
    const call = identity
      ? sql`request_identity_sign_in(${sessionHash}, ${migrationId}, ${publicKey}, ${identity.issuer},
          ${identity.subject}, ${identity.email}, ${content}::jsonb, ${lifetimeMs}::bigint)`
      : sql`request_sign_in(${sessionHash}, ${migrationId}, ${publicKey}, ${content}::jsonb, ${lifetimeMs}::bigint)`;
    const { rows } = await sql<{ result: 'stored' | 'exists' | 'refused' | `busy${string}` }>`
      select tokenferry_portal.${call} as result`.execute(this.db);
    const result = rows[0]?.result ?? 'refused';
    if (result === 'stored' || result === 'exists' || result === 'refused') return { result };
    const [, seconds] = result.split(' ');
    return { result: 'busy', busyForS: seconds === undefined ? null : Number(seconds) };
  }

  /** Returns a worker's answer to a request to sign in; null if no worker has answered yet. */
  async signInOutcome(sessionHash: Buffer): Promise<'signed-in' | 'unconfirmed' | 'refused' | null> {
    const { rows } = await sql<{ outcome: 'signed-in' | 'unconfirmed' | 'refused' | null }>`
      select tokenferry_portal.sign_in_outcome(${sessionHash}) as outcome`.execute(this.db);
    return rows[0]?.outcome ?? null;
  }

  async session(hash: Buffer): Promise<SessionRow | undefined> {
    const { rows } = await sql<StoredSession>`select ${SESSION} from tokenferry_portal.session(${hash})`.execute(
      this.db,
    );
    return sessionOf(rows);
  }

  async endSession(hash: Buffer): Promise<void> {
    await sql`select tokenferry_portal.end_session(${hash})`.execute(this.db);
  }

  /** Returns which of the sessions have not ended. */
  async liveSessions(hashes: readonly Buffer[]): Promise<readonly Buffer[]> {
    const { rows } = await sql<{ live: Buffer[] | null }>`
      select tokenferry_portal.live_sessions(${hashes}::bytea[]) as live`.execute(this.db);
    return rows[0]?.live ?? [];
  }

  /**
   * Returns the view of the session's migration; undefined if no worker has written one, or if the session has ended.
   * Workers write only views that are being read. If the view has not been read recently, it is old, so this waits for
   * a newer view.
   */
  async view(hash: Buffer): Promise<ViewRow | undefined> {
    for (const until = Date.now() + WAIT_FOR_NEWER_MS; ; await delay(READ_AGAIN_AFTER_MS)) {
      const found = await this.changedView(hash, null);
      const isLate = Date.now() >= until;
      if (found && found.view !== null && (found.ageMs <= RECENT_MS || isLate)) {
        const { view, writtenAt, isCurrent } = found;
        return { view, writtenAt, isCurrent };
      }
      if (isLate) return undefined;
    }
  }

  /**
   * Returns the view of the session's migration, without its content if the caller knows this version; undefined if no
   * worker has written one yet, or if the session has ended.
   */
  async changedView(hash: Buffer, known: string | null): Promise<ChangedView | undefined> {
    const { rows } = await sql<Omit<ChangedView, 'writtenAt'> & { readonly writtenAt: Date | null }>`
      select view, version, written_at as "writtenAt", is_current as "isCurrent", age_ms as "ageMs"
      from tokenferry_portal.view(${hash}, ${known})`.execute(this.db);
    const [row] = rows;
    return row?.writtenAt ? { ...row, writtenAt: row.writtenAt.toISOString() } : undefined;
  }

  async companies(hash: Buffer, { state, exceptions, search, afterRow, max }: CompanyQuery): Promise<CompanyRow[]> {
    const { rows } = await sql<CompanyRow>`
      select row, reference, name, organization, wave, state, failure, failure_text as "failureText",
        held_back as "heldBack", left_out_reason as "leftOutReason", is_deferred as "isDeferred",
        retry_at as "retryAt", tries,
        confirmed_at as "confirmedAt", credential,
        moved_at as "movedAt", crossed_at as "crossedAt", link_url as "linkUrl",
        depends_on_replaced as "dependsOnReplaced", has_ended as "hasEnded"
      from tokenferry_portal.companies(${hash}, ${state}, ${exceptions}, ${search}, ${afterRow}, ${max})
      order by row`.execute(this.db);
    return rows;
  }

  /**
   * Stores a request for the workers. `exists`: this invitation has already sent a request with this id. `refused`: the
   * request is malformed or not allowed, or the invitation's requests are too many or too large. Null: the session has
   * ended, or the invitation was revoked.
   */
  async submit(
    hash: Buffer,
    { id, kind, body }: { readonly id: string; readonly kind: PortalRequestKind; readonly body: unknown },
  ): Promise<'stored' | 'exists' | 'refused' | null> {
    const { rows } = await sql<{ result: 'stored' | 'exists' | 'refused' | null }>`
      select tokenferry_portal.submit(${hash}, ${id}::uuid, ${kind}, ${JSON.stringify(body)}::jsonb) as result`.execute(
      this.db,
    );
    return rows[0]?.result ?? null;
  }

  /**
   * Returns the answer to a request; null if there is none yet, undefined if the invitation has no such request, or if
   * the session has ended.
   */
  async answer(hash: Buffer, id: string): Promise<RequestAnswer | null | undefined> {
    const { rows } = await sql<{ answer: RequestAnswer | null }>`
      select answer from tokenferry_portal.answer(${hash}, ${id}::uuid)`.execute(this.db);
    return rows[0]?.answer;
  }
}

/** The result of a request to sign in. */
type RequestedSignIn =
  | { readonly result: 'stored' | 'exists' | 'refused' }
  | { readonly result: 'busy'; readonly busyForS: number | null };

/** The columns of a session, with the names of {@link SessionRow}. */
const SESSION = sql`invitation_id as "invitationId", migration_id as "migrationId", person, role,
  public_key as "publicKey", is_key_confirmed as "isKeyConfirmed", expires_at as "expiresAt"`;

type StoredSession = Omit<SessionRow, 'expiresAt'> & { readonly expiresAt: Date };

const sessionOf = ([row]: readonly StoredSession[]): SessionRow | undefined =>
  row && { ...row, expiresAt: row.expiresAt.toISOString() };
