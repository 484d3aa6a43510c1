/**
 * The import of one company: company, connection, authorization, start of the syncs.
 *
 * Putting the authorization is the crossing. Whatever was done before is looked up, not done again; and after a lost
 * answer the connection is read before anything else, because the credential may have been used.
 */
import { v5 as uuidv5 } from 'uuid';
import type { Company, CompanyDataClient, Connection } from '../../company-data-client';
import { CompanyDataError } from '../../company-data-client';
import type { Call, Consequence, FailureKind, StopReason } from '../../domain/companies/failures';
import { consequenceOf, consequenceOfLinkError, failureText } from '../../domain/companies/failures';
import { pollDelayMs } from '../../domain/planning/polling';
import type { Platform } from '../../platforms/platforms';
import { SealBroken } from '../../security';
import { companyOfRow, connectionTo, ROW_TAG, rowTag } from './service-refs';
import type { ServiceRefs, ClaimedCompany, ImportOutcome, VaultReader } from '../../store';
import { activeError, isAcceptance, organizationOf } from './connection';

export interface ImportContext {
  readonly migrationId: string;
  readonly platform: Platform;
  readonly service: CompanyDataClient;
  readonly vault: VaultReader;
  /** Breaks off calls before the authorization; from then on a company's way is gone to its end. */
  readonly signal: AbortSignal;
  /** Writes down that the credential of this row is about to leave; false: it may not, the company is somebody else's. */
  readonly noteSending: (row: number) => Promise<boolean>;
  /** No authorization leaves after this: somebody else may have taken the company over by then. */
  readonly sendBefore: Date;
}

export interface Imported {
  readonly outcome: ImportOutcome;
  readonly stop: StopReason | null;
  /** Why it has to be tried again: the service or its platform did not answer, or asked to wait. */
  readonly putOff?: string;
}

/** Namespace of the idempotency keys: a UUID of our own, so that a migration and a row always give the same key. */
const CREATIONS = '5f0f3f5e-54a7-4f0b-9d0a-6f2d3b1c7a90';

const NOT_USED_AGAIN = 'its credential was handed over before, and is never used again';

const NO_SUCH_CONNECTION = 'its company has no connection of this id to this platform';

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15 * 60_000;

/**
 * Imports a claimed company.
 *
 * @throws the signal's reason, when it is cancelled and an earlier attempt may have sent the credential
 */
export async function importCompany(crossing: ImportContext, claimed: ClaimedCompany): Promise<Imported> {
  return new Walk(crossing, claimed).through();
}

/** Thrown when somebody else has taken the company over: nothing is sent, and whoever has it says what became of it. */
class NoLongerOurs extends Error {
  override readonly name = 'NoLongerOurs';
  constructor(row: number) {
    super(`the company of row ${row} was taken over by another attempt`);
  }
}

/** One company's way, and what is known of it so far. */
class Walk {
  private at: ServiceRefs = {};

  constructor(
    private readonly crossing: ImportContext,
    private readonly claimed: ClaimedCompany,
  ) {}

  async through(): Promise<Imported> {
    let call: Call = 'find-company';
    try {
      const existing = await this.existingCompany();
      call = 'create-company';
      const company = existing ?? (await this.createCompany());
      this.at = { ...this.at, companyId: company.id, storedName: company.name };
      call = 'read-connection';
      const known = existing ? await this.existingConnection(company.id) : undefined;
      if (!known && this.claimed.named === 'connection') return this.failed('refused', NO_SUCH_CONNECTION);
      call = 'create-connection';
      const connection = known ?? (await this.createConnection(company.id));
      this.remember(connection);
      if (connection.status === 'Linked' && !this.isForNewCredential(connection)) {
        call = 'start-sync';
        return await this.linked(connection);
      }
      if (this.claimed.crossed) return this.failed('reauthorization-required', NOT_USED_AGAIN);
      const { sentAt } = this.claimed;
      const judged = sentAt && this.afterLostAnswer(connection, sentAt);
      if (judged) return judged;
      call = 'authorize';
      const answered = await this.authorize(connection);
      this.remember(answered);
      if (!isAcceptance(connection, answered)) return this.refused(answered);
      call = 'start-sync';
      return await this.linked(answered);
    } catch (error) {
      if (this.brokenOff(error)) return this.concluded({ then: 'again', afterMs: 0 }, 'broken off before its turn');
      if (error instanceof NoLongerOurs) return this.concluded({ then: 'look' }, error.message);
      if (error instanceof SealBroken) return this.failed('credential-unreadable', error.message);
      if (!(error instanceof CompanyDataError)) throw error;
      const consequence = consequenceOf(call, error.toFailure());
      return {
        ...this.notForgotten(this.concluded(consequence, error.message, error.correlationId)),
        ...putOffBy(consequence, error.message),
      };
    }
  }

  /** Whether the cancellation ended it before anything of its credential left, in this attempt and in those before. */
  private brokenOff(error: unknown): boolean {
    return this.crossing.signal.aborted && error === this.crossing.signal.reason && this.claimed.sentAt === null;
  }

  /** A company that an earlier try created, found by what we know or by its tag: idempotency keys expire. */
  private async existingCompany(): Promise<Company | undefined> {
    const { service, signal } = this.crossing;
    if (this.claimed.companyId) return (await service.getCompany(this.claimed.companyId, { signal })).value;
    if (this.claimed.tries === 1) return undefined;
    return companyOfRow(service, this.rowTag(), { signal });
  }

  private async createCompany(): Promise<Company> {
    const { service, signal } = this.crossing;
    const { value, correlationId } = await service.createCompany(
      { name: this.claimed.name, tags: { [ROW_TAG]: this.rowTag() } },
      { idempotencyKey: this.keyOf('company'), signal },
    );
    this.quote(correlationId);
    return value;
  }

  private async existingConnection(companyId: string): Promise<Connection | undefined> {
    const { service, signal, platform } = this.crossing;
    const { named, connectionId } = this.claimed;
    const wanted = {
      platformKey: platform.key,
      connectionId: named === 'connection' ? connectionId : null,
      // A company that was there before may have several.
      isOthers: (other: Connection) =>
        named === 'company' &&
        other.id !== connectionId &&
        other.status === 'Linked' &&
        !this.isOfTheOrganization(other),
    };
    return connectionTo(service, companyId, wanted, { signal });
  }

  private async createConnection(companyId: string): Promise<Connection> {
    const { service, signal, platform } = this.crossing;
    const { value, correlationId } = await service.createConnection(companyId, platform.key, {
      idempotencyKey: this.keyOf('connection'),
      signal,
    });
    this.quote(correlationId);
    return value;
  }

  /** The crossing. No signal: it is never broken off half way. */
  private async authorize(connection: Connection): Promise<Connection> {
    const { service, vault, sendBefore, noteSending } = this.crossing;
    const { row, sealed } = this.claimed;
    const fields = await vault.open(row, sealed);
    const beforeSending = async () => {
      if (!(await noteSending(row))) throw new NoLongerOurs(row);
    };
    const { value, ...answer } = await service.putAuthorization(this.companyId(), connection.id, fields, {
      sendBefore,
      recordSendIntent: beforeSending,
    });
    this.quote(answer.correlationId);
    if (isAcceptance(connection, value)) this.at = { ...this.at, accepted: answer, crossed: true };
    return value;
  }

  /** Undefined: the credential may be sent once more. */
  private afterLostAnswer(connection: Connection, sentAt: Date): Imported | undefined {
    const error = activeError(connection);
    // A complaint that was there before is about an older credential.
    if (error && !(Date.parse(error.erroredOnUtc ?? '') < sentAt.getTime())) return this.refused(connection);
    if (this.claimed.onItsWay) return this.concluded({ then: 'look' }, 'the answer to its authorization was lost');
    if (this.crossing.platform.rotation !== 'each-refresh') return undefined;
    return this.concludedAs({
      to: 'outcome-unknown',
      text: 'the answer to the authorization was lost, and a token of this platform can be used only once',
    });
  }

  private async linked(connection: Connection): Promise<Imported> {
    const { service } = this.crossing;
    if (!this.isOfTheOrganization(connection)) {
      return this.concluded(
        consequenceOfLinkError('WrongOrganization'),
        `the platform says organization ${organizationOf(connection)}, the manifest says ${this.claimed.organization}`,
      );
    }
    this.at = { ...this.at, crossed: true };
    const { correlationId } = await service.startSync(this.companyId());
    this.quote(correlationId);
    return this.concludedAs({ to: 'syncing', firstCheckMs: pollDelayMs(0) });
  }

  /** What the platform does not say is not held against it. */
  private isOfTheOrganization(connection: Connection): boolean {
    const organization = organizationOf(connection);
    return organization === undefined || organization === this.claimed.organization;
  }

  /** The connection is linked by an older credential, which somebody has replaced or which opened somebody else's books. */
  private isForNewCredential(connection: Connection): boolean {
    if (this.claimed.crossed || this.claimed.sentAt !== null) return false;
    return this.claimed.supersedes || !this.isOfTheOrganization(connection);
  }

  private refused(connection: Connection): Imported {
    const error = activeError(connection);
    const text = error?.errorMessage ?? `the connection is ${connection.status}`;
    const consequence = consequenceOfLinkError(error?.statusText);
    return { ...this.concluded(consequence, text), ...putOffBy(consequence, text) };
  }

  private concluded(consequence: Consequence, text: string, correlationId?: string): Imported {
    this.quote(correlationId);
    switch (consequence.then) {
      case 'fail':
        return this.failed(consequence.kind, text);
      case 'fail-and-stop':
        return this.failed(consequence.kind, text, consequence.reason);
      case 'stop':
        return this.concludedAs({ to: 'waiting', notBeforeMs: 0, text }, consequence.reason);
      case 'again':
        return this.concludedAs({ to: 'waiting', notBeforeMs: consequence.afterMs ?? this.backoffMs(), text });
      case 'look':
        // Held until every call of this attempt has certainly ended; then the connection is read.
        return this.concludedAs({ to: 'importing', text });
      case 'syncing':
      case 'not-applicable':
        return this.concludedAs({ to: 'syncing', firstCheckMs: pollDelayMs(0) });
    }
  }

  /** What an earlier attempt may have sent: its company stays claimed until its connection can be read. */
  private notForgotten({ outcome, stop }: Imported): Imported {
    if (outcome.to !== 'waiting' || this.claimed.sentAt === null) return { outcome, stop };
    return this.concludedAs({ to: 'importing', text: outcome.text }, stop);
  }

  private failed(failure: FailureKind, text: string, stop: StopReason | null = null): Imported {
    return this.concludedAs({ to: 'failed', failure, text: `${failureText(failure)} (${text})` }, stop);
  }

  private concludedAs(end: End, stop: StopReason | null = null): Imported {
    return { outcome: { row: this.claimed.row, at: this.at, ...end }, stop };
  }

  private remember(connection: Connection): void {
    this.at = {
      ...this.at,
      connectionId: connection.id,
      ...(connection.linkUrl === undefined ? {} : { linkUrl: connection.linkUrl }),
    };
  }

  /** The latest correlation id is the one to quote. */
  private quote(correlationId: string | undefined): void {
    if (correlationId !== undefined) this.at = { ...this.at, correlationId };
  }

  private companyId(): string {
    if (this.at.companyId === undefined) throw new Error('a connection is only used after its company is known');
    return this.at.companyId;
  }

  private rowTag(): string {
    return rowTag(this.crossing.migrationId, this.claimed.row);
  }

  private keyOf(what: 'company' | 'connection'): string {
    return uuidv5(`${this.rowTag()}/${what}`, CREATIONS);
  }

  /** Full jitter, so that companies that failed together do not come back together. */
  private backoffMs(): number {
    return Math.random() * Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.claimed.tries);
  }
}

function putOffBy({ then }: Consequence, why: string): { readonly putOff?: string } {
  return then === 'again' || then === 'look' ? { putOff: why } : {};
}

/** How a walk ends, without what every outcome has. */
type End = ImportOutcome extends infer Each ? (Each extends ImportOutcome ? Omit<Each, 'row' | 'at'> : never) : never;
