/** The evidence of a run, and the result of the check. */
import { readFile } from 'node:fs/promises';

/** The invariants, each with the sentence that must hold. A violation names one of them. */
export const INVARIANTS = {
  outcome: 'the ledger state of a row agrees with its connection and its data sets at the service',
  lost: 'if the service has used the token of a row, then the company is linked or the platform has ended the grant',
  unknown: 'a row whose outcome is unknown would not be moved by a retry',
  'one-company': 'the service has at most one company for a row',
  'one-connection': 'the service has at most one connection for a company and for an organization of a platform',
  'one-use': 'the platform has accepted a token for at most one connection',
  confirmation: 'no token is sent before the client has confirmed the company',
  release: 'no token is sent before the decisions that release the company, or after the migration was cancelled',
  window: 'no token is sent outside the windows',
  trail: 'the trail contains each decision once, with its outcome, and no decision that was not sent',
  report: 'the JSON and the CSV report agree with the service about each row',
} as const;

export type Invariant = keyof typeof INVARIANTS;

/** A period of the week in which moves can begin, in the form that decisions use. */
export interface WeeklyWindow {
  readonly days: readonly string[];
  /** `HH:MM` in the time zone. If `to` is not later than `from`, the window ends on the next day. */
  readonly from: string;
  readonly to: string;
  /** IANA name. */
  readonly timeZone: string;
}

/** The evidence that the checker examines. Files are given by their paths. */
export interface Evidence {
  /** The database of the orchestrator, and the database of the service with its sandbox platforms. */
  readonly ledgerUrl: string;
  readonly serviceDatabaseUrl: string;
  /** JSON lines, see {@link LoggedRequest}. */
  readonly requestLog: string;
  /** JSON lines, see {@link LoggedDecision}. */
  readonly decisionLog: string;
  /** The output of `ferry report` in the two formats, read once nothing was moving. */
  readonly reports: readonly { readonly migration: string; readonly json: string; readonly csv: string }[];
  /** Every credential that was supplied. A row can have several, if one was replaced. */
  readonly credentials: readonly SuppliedToken[];
  /**
   * The windows with which a migration was started. If a migration is missing here and a decision changed its windows,
   * then nothing is known about its windows before that decision, and they are not checked.
   */
  readonly windows?: readonly { readonly migration: string; readonly windows: readonly WeeklyWindow[] }[];
}

export interface SuppliedToken {
  readonly migration: string;
  readonly reference: string;
  readonly organization: string;
  /** SHA-256 of the refresh token, or of the access token if there is no refresh token. Hexadecimal. */
  readonly sha256: string;
  /** SHA-256 of the whole authorization body, with sorted keys. It is the field `credential` in the log of requests. */
  readonly bodySha256: string;
}

/** A request that a worker sent to the service, as a proxy between the two saw it. */
export interface LoggedRequest {
  /** When the proxy received the request. ISO 8601, UTC. */
  readonly at: string;
  readonly worker: string;
  readonly method: string;
  readonly path: string;
  /** The status of the answer, even if it was lost on the way to the worker; null if there was none. */
  readonly status: number | null;
  /** False if the service cannot have received the request. */
  readonly forwarded: boolean;
  /** True if the complete answer was written to the connection of the worker. */
  readonly delivered: boolean;
  /** True if a proxy has replaced the answer. */
  readonly injected: boolean;
  /** `bodySha256` of an authorization; null in other requests. */
  readonly credential: string | null;
}

/** A decision that the driver sent. `unknown`: the driver does not know the outcome. */
export interface LoggedDecision {
  readonly at: string;
  readonly migration: string;
  readonly decisionId: string;
  readonly message: string;
  readonly role: string;
  readonly answer: 'applied' | 'refused' | 'unknown';
}

export interface Violation {
  readonly invariant: Invariant;
  readonly migration: string;
  /** The client's reference for the company; empty if the violation does not concern one row. */
  readonly reference: string;
  readonly detail: string;
}

/** A row whose outcome is unknown to the ledger, with the truth at the service. */
export interface UnknownRow {
  readonly migration: string;
  readonly reference: string;
  readonly truth: string;
}

export interface CheckResult {
  readonly violations: readonly Violation[];
  /** The number of rows, tokens, requests or decisions that were checked for each invariant. */
  readonly checked: Readonly<Record<Invariant, number>>;
  readonly unknown: readonly UnknownRow[];
}

/** The result of one group of checks. */
export interface Findings {
  readonly violations: readonly Violation[];
  readonly checked: Partial<Record<Invariant, number>>;
}

/**
 * Reads a file with one JSON value per line. An unfinished last line is ignored, because its writer was killed before
 * it could finish the line.
 */
export async function readJsonLines<T>(file: string): Promise<readonly T[]> {
  const text = await readFile(file, 'utf8');
  const lines = text.split('\n');
  // A complete file ends in a line break, so its last line is empty.
  lines.pop();
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}
