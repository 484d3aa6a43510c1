/** Calls the portal's API, for the page in a browser and for `ferry --portal`. */
import type { z } from 'zod';
import { clientStateWords } from '../../domain/companies/company-state';
import { labelOf } from '../../domain/migration/temporal-names';
import { isOver, stageOf } from '../../domain/migration/terminated';
import type { ErrorSchema, RequestAnswer, RequestStatusSchema } from '../contract/requests';
import type { CompaniesSchema, CompanySchema, MigrationAnswerSchema, MigrationView } from '../contract/migration-view';
import type { IdentitySignInStartedSchema, PortalSession, SignInAgain } from '../contract/session';
import { isCertificateRefused } from './failed-connection';

export type Company = z.infer<typeof CompanySchema>;
export type CompanyState = Company['state'];
export type MigrationAnswer = z.infer<typeof MigrationAnswerSchema>;
export type Action = MigrationView['actions'][number];
/** `token` is absent if the session is in a cookie. */
type NewSession = PortalSession & { readonly token?: string };
type Companies = z.infer<typeof CompaniesSchema>;
type RequestStatus = z.infer<typeof RequestStatusSchema>;

export const STATE_LABELS: Readonly<Record<CompanyState, string>> = {
  moved: 'Moved',
  moving: 'Moving now',
  'not-moved-yet': 'Not moved yet',
  'must-reconnect': 'Must reconnect',
  'not-moved': 'Not moved',
  'left-out': 'Left out',
};

/**
 * Returns the label of a company's state. Once the migration or its workflow has ended, no company is moved any more,
 * so the state `moving` has another label.
 *
 * @param migration the state of the migration
 */
export function stateLabel(state: CompanyState, migration: string): string {
  const stage = stageOf(migration);
  return stage !== 'open' && state === 'moving' ? sentence(clientStateWords(stage).moving) : STATE_LABELS[state];
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Returns the client, with the label of the migration if it has one, because a client can have several migrations. */
export function titleOf({ client, migrationId }: Pick<MigrationView, 'client' | 'migrationId'>): string {
  const label = labelOf(migrationId);
  return label === null ? client : `${client} (${label})`;
}

/** Thrown when a request fails. `status` is the HTTP status; 0 if no complete answer was received. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    message: string,
    readonly advice?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /**
   * True if the same request can succeed later, because the network failed or a server is starting or busy. A refused
   * certificate is not temporary: only a person can replace it.
   */
  get isTemporary(): boolean {
    if (this.status === 0) return !isCertificateRefused(this.cause);
    return this.status === 429 || this.status >= 502;
  }
}

/**
 * Thrown for a successful answer that the portal cannot have sent. It counts as an answer of a proxy with status 502:
 * the portal may have received the request, and the same request can succeed later.
 */
export class ForeignAnswer extends ApiError {
  constructor() {
    super(502, 'The answer is not from the portal, but probably from a proxy. Check your connection.');
  }
}

function throwForeign(): never {
  throw new ForeignAnswer();
}

export interface PortalAddress {
  /** The portal's origin; empty for the origin of the page. */
  readonly origin: string;
  /** Headers of every request: the session's token, or the header that identifies the page. */
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the message about a request that got no complete answer. */
  readonly unreachable: (cause: unknown) => string;
  /**
   * Called after each attempt to send a decision or supplied data, with the error if the attempt failed. Every attempt
   * matters: even if the last one was not sent, the portal might have received an earlier one.
   */
  readonly onAttempt?: (error: ApiError | null) => void;
  /** How long to wait for each answer, in milliseconds. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** How long to repeat each request that fails with a temporary error, in milliseconds. Default 10 minutes. */
  readonly retryWithinMs?: number | undefined;
}

export interface CompanyFilter {
  readonly state?: CompanyState | undefined;
  readonly exceptions?: boolean;
  readonly search?: string;
  readonly after?: number;
  readonly limit?: number;
}

type SubmitPath = '/api/decisions' | '/api/credentials' | '/api/application' | '/api/manifest' | '/api/reports';

/** Returns the functions of the API. All of them throw `ApiError`. */
export function createPortalApi({
  origin,
  headers,
  unreachable,
  onAttempt,
  timeoutMs = 60_000,
  retryWithinMs: withinMs,
}: PortalAddress) {
  async function send(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await fetch(origin + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((cause: unknown) => {
      throw new ApiError(0, unreachable(cause), undefined, { cause });
    });
    if (response.ok) return response;
    const answer: unknown = await response.json().catch(() => null);
    const { error, advice } = (answer ?? {}) as Partial<z.infer<typeof ErrorSchema>>;
    // The portal gives a reason for each refusal, so a refusal without a reason probably comes from a proxy.
    const what =
      response.status >= 500
        ? 'The portal is not working at the moment.'
        : 'The request was refused, probably by a proxy. Check your connection.';
    throw new ApiError(response.status, error ?? what, advice);
  }

  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await send(method, path, body);
    if (response.status === 204) return undefined as T;
    const answer = parseJson(await textOf(response));
    return typeof answer === 'object' && answer !== null ? (answer as T) : throwForeign();
  }

  /** Reads the body of an answer. */
  async function textOf(response: Response): Promise<string> {
    return response.text().catch((cause: unknown) => {
      throw new ApiError(0, unreachable(cause), undefined, { cause });
    });
  }

  async function readCompanies(filter: CompanyFilter): Promise<Companies> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(filter))
      if (value !== undefined && value !== '' && value !== false) query.set(name, String(value));
    const answer = await call<Partial<Companies>>('GET', `/api/companies?${query.toString()}`);
    return Array.isArray(answer.companies) ? (answer as Companies) : throwForeign();
  }

  async function callRequest(method: string, path: string, body?: unknown): Promise<RequestStatus> {
    const status = await call<Partial<RequestStatus>>(method, path, body);
    const isStatus = typeof status.id === 'string' && status.answer !== undefined;
    return isStatus ? (status as RequestStatus) : throwForeign();
  }

  /**
   * Reads all companies that match, page by page.
   *
   * @param onWait called before each wait with a text that tells people the reason for the wait. If given, the request
   *   for a page is repeated while it fails with a temporary error, so that one error does not end a long read
   */
  async function* eachCompany(filter: CompanyFilter, onWait?: (text: string) => void): AsyncGenerator<Company> {
    for (let after = 0; ;) {
      const page = { ...filter, after, limit: 500 };
      const read = (): Promise<Companies> => readCompanies(page);
      const { companies, hasMore } =
        onWait === undefined ? await read() : await retryWhileTemporary(read, onWait, { withinMs });
      yield* companies;
      const last = companies.at(-1);
      if (!hasMore || last === undefined) return;
      after = last.row;
    }
  }

  /**
   * Sends a request to the workers and waits for its answer. Repeats the request while it fails with a temporary error.
   * The portal recognizes a repeated request by its content, so the request is carried out again only if its answer was
   * `failed`. The exception is a report: a repeated request creates another report.
   *
   * @param onWait called before each wait with a text that tells people the reason for the wait
   */
  async function submit(
    path: SubmitPath,
    body: unknown,
    onWait: (text: string) => void,
  ): Promise<RequestAnswer & { readonly id: string }> {
    // A request for a report changes nothing, so `onAttempt` need not know about it.
    const tell = path === '/api/reports' ? undefined : onAttempt;
    const post = async (): Promise<RequestStatus> => {
      try {
        const status = await callRequest('POST', path, body);
        tell?.(null);
        return status;
      } catch (error) {
        if (error instanceof ApiError) tell?.(error);
        throw error;
      }
    };
    let { id, answer } = await retryWhileTemporary(post, onWait, { withinMs });
    const request = `/api/requests/${id}`;
    while (answer === null) {
      onWait('Waiting for the migration to answer…');
      await sleep(1_000);
      ({ id, answer } = await retryWhileTemporary(() => callRequest('GET', request), onWait, { withinMs }));
    }
    return { ...answer, id };
  }

  return {
    readSession: (): Promise<PortalSession> => call('GET', '/api/session'),
    readMigration: (): Promise<MigrationAnswer> => call('GET', '/api/migration'),
    endSession: (): Promise<void> => call('DELETE', '/api/session'),
    redeem: (invitation: string, publicKey: string, as: 'cookie' | 'token'): Promise<NewSession> =>
      call('POST', '/api/session', { invitation, publicKey, as }),
    startIdentity: (migrationId: string, publicKey: string): Promise<z.infer<typeof IdentitySignInStartedSchema>> =>
      call('POST', '/api/session/identity', { migrationId, publicKey }),
    finishIdentity: (query: string): Promise<PortalSession> => call('POST', '/api/session/identity/answer', { query }),
    signInAgain: (proof: SignInAgain): Promise<NewSession> => call('POST', '/api/session/renewal', proof),
    readReport: async (id: string, format: string): Promise<string> => {
      const response = await send('GET', `/api/reports/${id}?format=${format}`);
      return response.headers.has('content-disposition') ? textOf(response) : throwForeign();
    },
    ...{ readCompanies, eachCompany, submit },
  };
}

/** Parses JSON. Returns null if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const OLD_VIEW =
  'It might be out of date, because the migration is not answering. Decisions are stored, and wait until the migration answers.';

/**
 * Returns the text about a view that no worker has written for a while: its age, why it might be out of date, and what
 * that means for decisions. After the end of the migration or its workflow, no decision is possible, so the text is
 * only the age.
 *
 * @param age a sentence that says when the view was written
 * @param migration the state of the migration
 */
export const oldViewText = (age: string, migration: string): string => (isOver(migration) ? age : `${age} ${OLD_VIEW}`);

/** How long {@link retryWhileTemporary} repeats a call by default. */
const RETRY_BUDGET_MS = 10 * 60_000;
const LONGEST_WAIT_MS = 15_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface RetryOptions {
  /** Returns whether an error is temporary; by default, its `isTemporary`. */
  readonly isTemporary?: (error: ApiError) => boolean;
  /** The retry budget, in milliseconds from the first attempt. Default 10 minutes. No attempt begins after its end. */
  readonly withinMs?: number | undefined;
}

/**
 * Repeats a call with exponential backoff while it fails with a temporary error. Throws the error once the retry budget
 * is used up. Throws any other error immediately.
 *
 * @param onWait called before each wait with a text that tells people the reason for the wait
 */
export async function retryWhileTemporary<T>(
  work: () => Promise<T>,
  onWait: (text: string) => void,
  { isTemporary = (error) => error.isTemporary, withinMs = RETRY_BUDGET_MS }: RetryOptions = {},
): Promise<T> {
  const until = Date.now() + withinMs;
  for (let wait = 1_000; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      return await work();
    } catch (error) {
      const leftMs = until - Date.now();
      if (!(error instanceof ApiError) || !isTemporary(error) || leftMs <= 0) throw error;
      onWait(`${error.message.replace(/\.?$/, '.')} Trying again…`);
      await sleep(Math.min(wait, leftMs));
    }
  }
}
