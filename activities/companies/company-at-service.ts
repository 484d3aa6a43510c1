/** Finds or creates, at the service, the company of a claimed row and its connection to the platform. */
import type { Company, CompanyDataClient, Connection } from '../../company-data-client';
import type { Platform } from '../../platforms/platforms';
import type { ClaimedCompany, RecordSendIntent, VaultReader } from '../../store';
import {
  findCompanyByTag,
  findConnection,
  hasRightOrganization,
  idempotencyKey,
  isGone,
  ROW_TAG,
  rowTag,
} from './service-refs';

export interface ImportContext {
  readonly migrationId: string;
  readonly platform: Platform;
  readonly service: CompanyDataClient;
  readonly vault: VaultReader;
  /** Cancels the calls before the authorization, but not the authorization or the calls after it. */
  readonly signal: AbortSignal;
  readonly recordSendIntent: RecordSendIntent;
  /**
   * No credential is sent after this time, because the request could still be in flight when another attempt reclaims
   * the company (store/companies/lease.ts).
   */
  readonly sendBefore: Date;
  /** False if the ledger might have been restored to an older state, and so might lack some tries. */
  readonly ledgerIsCurrent: boolean;
}

/** A created company or connection, with the correlation id of the service's response. */
export interface Created<T> {
  readonly value: T;
  readonly correlationId?: string;
}

export class CompanyAtService {
  constructor(
    private readonly context: ImportContext,
    private readonly company: ClaimedCompany,
  ) {}

  /**
   * Finds the company whose id the client supplied, or that an earlier try created.
   *
   * @returns undefined if there is no such company
   * @throws {CompanyDataError} if a call fails. A lost company counts as a failed call only if the client supplied its
   *   id or its credential may have been sent
   */
  async findCompany(): Promise<Company | undefined> {
    const { service, signal } = this.context;
    const { companyId, tries } = this.company;
    try {
      if (companyId !== null) return (await service.getCompany(companyId, { signal })).value;
    } catch (error) {
      // If the service no longer has the company, a credential that was never sent can be used for a new company.
      if (!isGone(error) || this.company.suppliedIds !== null || this.mayHaveSentCredential()) throw error;
    }
    if (tries === 1 && this.context.ledgerIsCurrent) return undefined;
    return findCompanyByTag(service, this.rowTag(), { signal });
  }

  /**
   * @param lostId id of a company that this try has created and the service has lost; null if none
   */
  async createCompany(lostId: string | null): Promise<Created<Company>> {
    const { service, signal } = this.context;
    return service.createCompany(
      { name: this.company.name, tags: { [ROW_TAG]: this.rowTag() } },
      // The id of a lost company is part of the key, because the service might still remember its creation.
      {
        idempotencyKey: idempotencyKey(`${this.rowTag()}/company/${lostId ?? this.company.companyId ?? ''}`),
        signal,
      },
    );
  }

  /**
   * Finds the connection of the row. If an earlier attempt may have sent the credential, this is the connection of its
   * send intent, even if the company has other connections.
   */
  async findConnection(companyId: string): Promise<Connection | undefined> {
    const { service, signal, platform } = this.context;
    const { suppliedIds, connectionId } = this.company;
    const query = {
      platformKey: platform.key,
      connectionId: suppliedIds === 'connection' || this.mayHaveSentCredential() ? connectionId : null,
      // A company that the client supplied can have connections to other organizations. They must not be replaced.
      isExcluded: (other: Connection) =>
        suppliedIds === 'company' &&
        other.id !== connectionId &&
        other.status === 'Linked' &&
        !hasRightOrganization(other, this.company.organization),
    };
    return findConnection(service, companyId, query, { signal });
  }

  async createConnection(companyId: string): Promise<Created<Connection>> {
    const { service, signal, platform } = this.context;
    return service.createConnection(companyId, platform.key, {
      idempotencyKey: idempotencyKey(`${this.rowTag()}/connection/${companyId}`),
      signal,
    });
  }

  /**
   * Returns whether the credential counts as handed over, or an earlier attempt recorded a send intent and may have
   * sent the credential.
   */
  mayHaveSentCredential(): boolean {
    return this.company.crossed || this.company.wasSent;
  }

  private rowTag(): string {
    return rowTag(this.context.migrationId, this.company.row);
  }
}
