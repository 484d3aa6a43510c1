/**
 * The import of one company: create the company and its connection, authorize the connection, start the syncs.
 *
 * The authorization hands the credential over (the crossing). No single-use credential is ever used twice:
 * - `authorize` records the send intent (store/companies/send-intent.ts) before it sends the credential.
 * - If an earlier attempt recorded a send intent, `afterLostAnswer` decides whether the credential can be sent again:
 *   only to the same connection, and only when no request can be in flight any longer.
 * - A credential that counts as handed over (`crossed`) is not sent again.
 *
 * A company that might already exist is looked up by its id or its tag before it is created: on every retry, and on the
 * first try if the ledger is not known to be current (ledger-comparison.ts).
 *
 * A service that was restored to an older state may have lost a company that an import created. If the credential was
 * never sent, the company is created again. Otherwise the client must supply a new credential.
 */
import { CompanyDataError, type Connection } from '../../company-data-client';
import {
  consequenceOf,
  consequenceOfLinkError,
  failureText,
  isIsolated,
  sourceOf,
  type Call,
  type Consequence,
  type FailureKind,
  type StopReason,
} from '../../domain/companies/failures';
import { pollDelayMs } from '../../domain/planning/pacing';
import { SealBroken } from '../../security';
import { LeaseLost, MAX_AUTHORIZATIONS, type ClaimedCompany, type ServiceRefs } from '../../store';
import { CompanyAtService, type Created, type ImportContext } from './company-at-service';
import {
  activeError,
  COMPANY_GONE,
  errorSince,
  hasRightOrganization,
  isAccepted,
  isCompanyGone,
  isGone,
  linkProblemOf,
  wrongOrganizationText,
} from './service-refs';
import { backoffMs, deferral, unanswered, type ImportResult, type End } from './import-result';

/** Says "may", because `crossed` is also set if the service lost the connection, or the end customer reconnected. */
const SENT_BEFORE = 'this credential may already have been used, so it is never sent again';
const CONNECTION_LOST =
  'the service no longer has the connection to which this credential may have been sent, and the credential is never sent to another connection';
const NO_SUCH_CONNECTION = 'the company has no connection to this platform with the supplied connection id';

/** The import of one claimed company, with the ids at the service that are known so far. */
export class CompanyImport {
  private refs: ServiceRefs = {};
  /** The id of the company that this try has created; null until then. */
  private createdId: string | null = null;
  /**
   * The id of a company that this try created, but that the service does not have: the service lost the company at
   * once, or repeated an old response because it knew the idempotency key. Null if none.
   */
  private lostId: string | null = null;
  private readonly atService: CompanyAtService;

  constructor(
    private readonly context: ImportContext,
    private readonly company: ClaimedCompany,
  ) {
    this.atService = new CompanyAtService(context, company);
  }

  /** @throws the signal's reason if cancelled, and an attempt since the claim may have sent the credential */
  async run(): Promise<ImportResult> {
    let call: Call = 'find-company';
    try {
      const existing = await this.atService.findCompany();
      call = 'create-company';
      const { id, name } = existing ?? (await this.created(this.atService.createCompany(this.lostId)));
      if (!existing) this.createdId = id;
      this.refs = { ...this.refs, companyId: id, storedName: name };

      call = 'read-connection';
      const found = existing && (await this.atService.findConnection(id));
      if (!found && this.company.suppliedIds === 'connection') return this.failed('refused', NO_SUCH_CONNECTION);
      call = 'create-connection';
      const connection = found ?? (await this.created(this.atService.createConnection(id)));
      this.remember(connection);

      let linked = connection;
      if (connection.status !== 'Linked' || this.mustReplaceCredential(connection)) {
        if (this.company.crossed) return this.grantEnded(connection);
        if (!found && this.company.wasSent) return this.connectionLost();
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
      return this.afterError(call, error);
    }
  }

  private async afterError(call: Call, error: unknown): Promise<ImportResult> {
    if (this.isCancelled(error)) return unanswered(this.ended({ to: 'waiting', retryInMs: 0, text: null }));
    if (error instanceof LeaseLost) return unanswered(this.concluded({ action: 'read-connection' }, error.message));
    if (error instanceof SealBroken) return this.failed('credential-unreadable', error.message);
    if (!(error instanceof CompanyDataError)) throw error;
    const ownId = this.company.suppliedIds === null ? (this.refs.companyId ?? this.company.companyId) : null;
    if (ownId !== null && isGone(error)) {
      try {
        // Passes no signal, because this try might have sent the credential. If this call were cancelled, `isCancelled`
        // would treat the import as one that has sent nothing.
        if (await isCompanyGone(this.context.service, ownId)) return this.companyGone(call, error);
      } catch (unanswered) {
        return this.afterError(call, unanswered);
      }
    }
    const consequence = consequenceOf(call, error.toFailure());
    const concluded = this.concluded(consequence, error.message, error.correlationId);
    return {
      ...this.keepAfterSending(concluded),
      ...deferral(consequence, { why: error.message, source: sourceOf(error.toFailure()) }),
    };
  }

  /** Returns whether the import was cancelled before any attempt since the claim sent the credential. */
  private isCancelled(error: unknown): boolean {
    return this.context.signal.aborted && error === this.context.signal.reason && this.company.sentAt === null;
  }

  private async created<T>(creation: Promise<Created<T>>): Promise<T> {
    const { value, correlationId } = await creation;
    this.rememberCorrelationId(correlationId);
    return value;
  }

  /** Sends the credential. Passes no signal, because the outcome of a cancelled call would be unknown. */
  private async authorize(connection: Connection): Promise<Connection> {
    const { service, vault, sendBefore, recordSendIntent } = this.context;
    const { row } = this.company;
    const fields = vault.open(this.company);
    const { value, ...answer } = await service.putAuthorization(this.companyId(), connection.id, fields, {
      sendBefore,
      recordSendIntent: () => recordSendIntent({ row, connectionId: connection.id }),
    });
    this.rememberCorrelationId(answer.correlationId);
    if (isAccepted(connection, value)) this.refs = { ...this.refs, accepted: answer, crossed: true };
    return value;
  }

  /**
   * Concludes from an unlinked connection what happened to a credential that an earlier attempt may have sent.
   *
   * @returns undefined if no earlier attempt sent the credential, or if it can be sent again
   */
  private afterLostAnswer(connection: Connection): ImportResult | undefined {
    const { sentAt, timesSent, isInFlight } = this.company;
    if (sentAt === null) return undefined;
    if (errorSince(connection, sentAt)) return this.refused(connection);
    if (isInFlight)
      return unanswered(this.concluded({ action: 'read-connection' }, 'the authorization request got no clear answer'));
    // The same token can be sent again: a service that has already accepted the token answers without using it again. A
    // single-use token is sent only a few times, and then a person decides.
    if (this.context.platform.rotation !== 'each-refresh' || timesSent < MAX_AUTHORIZATIONS) return undefined;
    return this.ended({
      to: 'outcome-unknown',
      text: `${timesSent} authorization requests got no clear answer, and a token of this platform can be used only once`,
    });
  }

  /** Starts the syncs of a linked connection, unless it gives access to the wrong organization. */
  private async startSync(connection: Connection): Promise<ImportResult> {
    const { service } = this.context;
    const { organization } = this.company;
    if (!hasRightOrganization(connection, organization)) {
      const text = wrongOrganizationText(connection, organization);
      return this.concluded(consequenceOfLinkError('WrongOrganization'), text);
    }
    this.refs = { ...this.refs, crossed: true };
    const { correlationId } = await service.startSync(this.companyId());
    this.rememberCorrelationId(correlationId);
    return this.ended({ to: 'syncing', firstCheckInMs: pollDelayMs(0) });
  }

  /**
   * Returns whether to replace the credential that has linked the connection. True if the client has supplied a newer
   * credential, or the connection gives access to the wrong organization; but false if the company's credential counts
   * as handed over or may have been sent.
   */
  private mustReplaceCredential(connection: Connection): boolean {
    if (this.company.crossed || this.company.sentAt !== null) return false;
    return this.company.supersedes || !hasRightOrganization(connection, this.company.organization);
  }

  /**
   * Handles a company that the service has lost. If this try has created the company and has not sent the credential
   * yet, creates it once more. Otherwise, treats the credential as handed over if it may have been sent, and retries
   * the company later if not.
   */
  private companyGone(call: Call, error: CompanyDataError): ImportResult | Promise<ImportResult> {
    const isUnsentByThisTry = call !== 'authorize' && call !== 'start-sync';
    if (isUnsentByThisTry && this.createdId !== null && this.lostId === null) {
      this.lostId = this.createdId;
      this.refs = {};
      return this.run();
    }
    this.rememberCorrelationId(error.correlationId);
    if (isUnsentByThisTry && !this.atService.mayHaveSentCredential())
      return unanswered(this.ended({ to: 'waiting', retryInMs: backoffMs(this.company), text: COMPANY_GONE }));
    const { correlationId } = this.refs;
    this.refs = { isGone: true, crossed: true, ...(correlationId !== undefined && { correlationId }) };
    return this.failed('credential-unreadable', COMPANY_GONE);
  }

  /**
   * Treats the credential as handed over, because it may have been sent to a connection that the service has lost. The
   * credential is never sent to another connection.
   */
  private connectionLost(): ImportResult {
    this.refs = { ...this.refs, crossed: true };
    return this.failed('reauthorization-required', CONNECTION_LOST);
  }

  /**
   * Fails the company for the reason that the service gives, because its connection is not linked, and a credential
   * that counts as handed over is never sent again.
   */
  private grantEnded(connection: Connection): ImportResult {
    const reason = linkProblemOf(connection).replace(/\.$/, '');
    return this.failed('reauthorization-required', `${reason}; ${SENT_BEFORE}`);
  }

  private refused(connection: Connection): ImportResult {
    const text = linkProblemOf(connection);
    const consequence = consequenceOfLinkError(activeError(connection)?.statusText);
    return { ...this.concluded(consequence, text), ...deferral(consequence, { why: text, source: 'platform' }) };
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
        // The only isolated reason here is that the platform refused the application. The credential was then not used,
        // so the company is retried, and `ferry exceptions` lists it.
        const end = isIsolated(reason) ? { retryInMs: backoffMs(this.company), failure: reason } : { retryInMs: 0 };
        return this.ended({ to: 'waiting', text, ...end }, reason);
      }
      case 'retry':
        return this.ended({ to: 'waiting', retryInMs: consequence.afterMs ?? backoffMs(this.company), text });
      case 'read-connection':
        // The row keeps its lease. The attempt that reclaims it reads the connection.
        return this.ended({ to: 'importing', text });
      case 'poll-again':
      case 'skip-data-set':
        return this.ended({ to: 'syncing', firstCheckInMs: pollDelayMs(0) });
    }
  }

  /**
   * Keeps the row in `importing` if an earlier attempt recorded a send intent, because the transition to `waiting`
   * would clear the intent.
   */
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
    const { id: connectionId, linkUrl } = connection;
    this.refs = { ...this.refs, connectionId, ...(linkUrl !== undefined && { linkUrl }) };
  }

  /** Keeps the latest correlation id, which support quotes to the service. */
  private rememberCorrelationId(correlationId: string | undefined): void {
    if (correlationId !== undefined) this.refs = { ...this.refs, correlationId };
  }

  private companyId(): string {
    if (this.refs.companyId === undefined) throw new Error('a connection is used before its company is known');
    return this.refs.companyId;
  }
}
