/**
 * The import of one company: create the company and its connection, authorize the connection, start the syncs.
 *
 * The authorization hands the credential over (the crossing). No single-use credential is ever used twice:
 * - `authorize` records the send intent (store/companies/send-intent.ts) before the credential leaves.
 * - If an earlier attempt recorded a send intent, `afterLostAnswer` decides whether the credential can be sent again: to
 *   the same connection, and only once nothing can be in flight.
 * - A credential that the service has accepted (`crossed`) is not sent again.
 *
 * A company that might already exist is looked up by its tag before it is created: on every retry, and on the first
 * try if the ledger is not known to be current (ledger-comparison.ts).
 */
import { v5 as uuidv5 } from 'uuid';
import type { Company, CompanyDataClient, Connection } from '../../company-data-client';
import { CompanyDataError } from '../../company-data-client';
import type { Call, Consequence, FailureKind, StopReason } from '../../domain/companies/failures';
import { consequenceOf, consequenceOfLinkError, failureText, isIsolated } from '../../domain/companies/failures';
import { pollDelayMs } from '../../domain/planning/pacing';
import type { Platform } from '../../platforms/platforms';
import { SealBroken } from '../../security';
import type { ClaimedCompany, ImportOutcome, RecordSendIntent, ServiceRefs, VaultReader } from '../../store';
import { LeaseLost } from '../../store';
import { activeError, findCompanyByTag, findConnection, isAccepted } from './service-refs';
import { organizationOf, ROW_TAG, rowTag } from './service-refs';

export interface ImportContext {
  readonly migrationId: string;
  readonly platform: Platform;
  readonly service: CompanyDataClient;
  readonly vault: VaultReader;
  /** Cancels the calls before the authorization, but not the authorization or the calls after it. */
  readonly signal: AbortSignal;
  readonly recordSendIntent: RecordSendIntent;
  /** No credential leaves after this time, because another attempt might reclaim the company (lease.ts). */
  readonly sendBefore: Date;
  /** False if the ledger might have been restored to an older state, so that it does not contain every try. */
  readonly ledgerIsCurrent: boolean;
}

export interface ImportResult {
  readonly outcome: ImportOutcome;
  readonly stop: StopReason | null;
  /** Why the company must be tried again: the service or the platform failed, did not respond, or asked us to wait. */
  readonly deferredBy?: string;
}

/** The namespace of the idempotency keys. The same migration and row always result in the same keys. */
const KEY_NAMESPACE = '5f0f3f5e-54a7-4f0b-9d0a-6f2d3b1c7a90';

const SENT_BEFORE = 'the service has already accepted this credential, and an accepted credential is never sent again';
const NO_SUCH_CONNECTION = 'the company has no connection with the supplied id for this platform';

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15 * 60_000;

/** The import of one claimed company, with the ids at the service that are known so far. */
export class CompanyImport {
  private refs: ServiceRefs = {};

  constructor(
    private readonly context: ImportContext,
    private readonly company: ClaimedCompany,
  ) {}

  /** @throws the signal's reason if the import is cancelled and an earlier attempt may have sent the credential */
  async run(): Promise<ImportResult> {
    let call: Call = 'find-company';
    try {
      const existing = await this.findCompany();
      call = 'create-company';
      const { id, name } = existing ?? (await this.createCompany());
      this.refs = { ...this.refs, companyId: id, storedName: name };

      call = 'read-connection';
      const found = existing && (await this.findConnection(id));
      if (!found && this.company.suppliedIds === 'connection') return this.failed('refused', NO_SUCH_CONNECTION);
      call = 'create-connection';
      const connection = found ?? (await this.createConnection(id));
      this.remember(connection);

      let linked = connection;
      if (connection.status !== 'Linked' || this.mustReplaceCredential(connection)) {
        if (this.company.crossed) return this.failed('reauthorization-required', SENT_BEFORE);
        const known = this.afterLostAnswer(connection);
        if (known) return known;
        call = 'authorize';
        linked = await this.authorize(connection);
        this.remember(linked);
        if (!isAccepted(connection, linked)) return this.refused(linked);
      }
      call = 'start-sync';
      return await this.startSync(linked);
    } catch (error) {
      if (this.isCancelled(error)) return this.ended({ to: 'waiting', notBeforeMs: 0, text: null });
      if (error instanceof LeaseLost) return this.concluded({ action: 'read-connection' }, error.message);
      if (error instanceof SealBroken) return this.failed('credential-unreadable', error.message);
      if (!(error instanceof CompanyDataError)) throw error;
      const consequence = consequenceOf(call, error.toFailure());
      const concluded = this.concluded(consequence, error.message, error.correlationId);
      return { ...this.keepAfterSending(concluded), ...deferral(consequence, error.message) };
    }
  }

  /** Returns whether the import was cancelled before any attempt sent the credential. */
  private isCancelled(error: unknown): boolean {
    return this.context.signal.aborted && error === this.context.signal.reason && this.company.sentAt === null;
  }

  /** Finds the company whose id the client supplied, or that an earlier try created. */
  private async findCompany(): Promise<Company | undefined> {
    const { service, signal } = this.context;
    if (this.company.companyId) return (await service.getCompany(this.company.companyId, { signal })).value;
    if (this.company.tries === 1 && this.context.ledgerIsCurrent) return undefined;
    return findCompanyByTag(service, this.rowTag(), { signal });
  }

  private async createCompany(): Promise<Company> {
    const { service, signal } = this.context;
    const { value, correlationId } = await service.createCompany(
      { name: this.company.name, tags: { [ROW_TAG]: this.rowTag() } },
      { idempotencyKey: this.idempotencyKey('company'), signal },
    );
    this.rememberCorrelationId(correlationId);
    return value;
  }

  private async findConnection(companyId: string): Promise<Connection | undefined> {
    const { service, signal, platform } = this.context;
    const { suppliedIds, connectionId } = this.company;
    const query = {
      platformKey: platform.key,
      connectionId: suppliedIds === 'connection' ? connectionId : null,
      // A company that the client supplied can have connections to other organizations. They must not be replaced.
      isExcluded: (other: Connection) =>
        suppliedIds === 'company' &&
        other.id !== connectionId &&
        other.status === 'Linked' &&
        !this.hasRightOrganization(other),
    };
    return findConnection(service, companyId, query, { signal });
  }

  private async createConnection(companyId: string): Promise<Connection> {
    const { service, signal, platform } = this.context;
    const { value, correlationId } = await service.createConnection(companyId, platform.key, {
      idempotencyKey: this.idempotencyKey('connection'),
      signal,
    });
    this.rememberCorrelationId(correlationId);
    return value;
  }

  /** Sends the credential. Passes no signal, because the outcome of a cancelled call would be unknown. */
  private async authorize(connection: Connection): Promise<Connection> {
    const { service, vault, sendBefore, recordSendIntent } = this.context;
    const { row, sealed } = this.company;
    const fields = await vault.open(row, sealed);
    const { value, ...answer } = await service.putAuthorization(this.companyId(), connection.id, fields, {
      sendBefore,
      recordSendIntent: () => recordSendIntent(row),
    });
    this.rememberCorrelationId(answer.correlationId);
    if (isAccepted(connection, value)) this.refs = { ...this.refs, accepted: answer, crossed: true };
    return value;
  }

  /**
   * Concludes from an unlinked connection what happened to a credential that an earlier attempt may have sent.
   *
   * @returns undefined if no earlier attempt sent it, or it can be sent again
   */
  private afterLostAnswer(connection: Connection): ImportResult | undefined {
    const { sentAt, sentAgain, isInFlight } = this.company;
    if (sentAt === null) return undefined;
    const error = activeError(connection);
    // An error from before the send intent concerns an older credential.
    if (error && !(Date.parse(error.erroredOnUtc ?? '') < sentAt.getTime())) return this.refused(connection);
    if (isInFlight) return this.concluded({ action: 'read-connection' }, 'the answer to the authorization was lost');
    // The service answers a body that it has already accepted without using the token, so a second authorization shows
    // the outcome, or is the first to arrive. A third one would not tell us any more.
    if (this.context.platform.rotation !== 'each-refresh' || !sentAgain) return undefined;
    return this.ended({
      to: 'outcome-unknown',
      text: 'the answers to two authorizations were lost, and tokens of this platform can be used only once',
    });
  }

  /** Starts the syncs of a linked connection, unless it gives access to the wrong organization. */
  private async startSync(connection: Connection): Promise<ImportResult> {
    const { service } = this.context;
    if (!this.hasRightOrganization(connection)) {
      return this.concluded(
        consequenceOfLinkError('WrongOrganization'),
        `the platform reports organization ${organizationOf(connection)}, but the manifest says ${this.company.organization}`,
      );
    }
    this.refs = { ...this.refs, crossed: true };
    const { correlationId } = await service.startSync(this.companyId());
    this.rememberCorrelationId(correlationId);
    return this.ended({ to: 'syncing', firstCheckMs: pollDelayMs(0) });
  }

  /** Returns whether the connection gives access to the right organization, or does not report any. */
  private hasRightOrganization(connection: Connection): boolean {
    return [undefined, this.company.organization].includes(organizationOf(connection));
  }

  /**
   * Returns whether to replace the credential that has linked the connection: the client has supplied a newer
   * credential, or the connection gives access to the wrong organization. Returns false if the new credential was
   * accepted or might have been sent.
   */
  private mustReplaceCredential(connection: Connection): boolean {
    if (this.company.crossed || this.company.sentAt !== null) return false;
    return this.company.supersedes || !this.hasRightOrganization(connection);
  }

  private refused(connection: Connection): ImportResult {
    const error = activeError(connection);
    const text = error?.errorMessage ?? `the connection is ${connection.status}`;
    const consequence = consequenceOfLinkError(error?.statusText);
    return { ...this.concluded(consequence, text), ...deferral(consequence, text) };
  }

  private concluded(consequence: Consequence, text: string, correlationId?: string): ImportResult {
    this.rememberCorrelationId(correlationId);
    switch (consequence.action) {
      case 'fail':
        return this.failed(consequence.kind, text);
      case 'fail-and-stop':
        return this.failed(consequence.kind, text, consequence.reason);
      case 'stop': {
        const { reason } = consequence;
        // A credential of another application was not used. `ferry exceptions` lists its company, which is retried.
        const end = isIsolated(reason) ? { notBeforeMs: this.backoffMs(), failure: reason } : { notBeforeMs: 0 };
        return this.ended({ to: 'waiting', text, ...end }, reason);
      }
      case 'retry':
        return this.ended({ to: 'waiting', notBeforeMs: consequence.afterMs ?? this.backoffMs(), text });
      case 'read-connection':
        // The row keeps its lease. The attempt that reclaims it reads the connection.
        return this.ended({ to: 'importing', text });
      case 'poll-again':
      case 'skip-data-set':
        return this.ended({ to: 'syncing', firstCheckMs: pollDelayMs(0) });
    }
  }

  /** Keeps the row claimed if an earlier attempt recorded a send intent, because `waiting` would clear the intent. */
  private keepAfterSending({ outcome, stop }: ImportResult): ImportResult {
    if (outcome.to !== 'waiting' || outcome.text === null || this.company.sentAt === null) return { outcome, stop };
    return this.ended({ to: 'importing', text: outcome.text }, stop);
  }

  private failed(failure: FailureKind, text: string, stop: StopReason | null = null): ImportResult {
    return this.ended({ to: 'failed', failure, text: `${failureText(failure)} (${text})` }, stop);
  }

  private ended(end: End, stop: StopReason | null = null): ImportResult {
    return { outcome: { row: this.company.row, refs: this.refs, ...end }, stop };
  }

  private remember(connection: Connection): void {
    this.refs = {
      ...this.refs,
      connectionId: connection.id,
      ...(connection.linkUrl === undefined ? {} : { linkUrl: connection.linkUrl }),
    };
  }

  /** Keeps the latest correlation id, which support quotes to the service. */
  private rememberCorrelationId(correlationId: string | undefined): void {
    if (correlationId !== undefined) this.refs = { ...this.refs, correlationId };
  }

  private companyId(): string {
    if (this.refs.companyId === undefined) throw new Error('a connection is used before its company is known');
    return this.refs.companyId;
  }

  private rowTag(): string {
    return rowTag(this.context.migrationId, this.company.row);
  }

  private idempotencyKey(resource: 'company' | 'connection'): string {
    return uuidv5(`${this.rowTag()}/${resource}`, KEY_NAMESPACE);
  }

  /** Returns a backoff with full jitter, so that companies that failed together are not retried together. */
  private backoffMs(): number {
    return Math.random() * Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.company.tries);
  }
}

function deferral({ action }: Consequence, why: string): { readonly deferredBy?: string } {
  return action === 'retry' || action === 'read-connection' ? { deferredBy: why } : {};
}

/** An outcome without the fields that every outcome has. */
type End = ImportOutcome extends infer Each ? (Each extends ImportOutcome ? Omit<Each, 'row' | 'refs'> : never) : never;
