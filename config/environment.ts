import path from 'node:path';
import envPaths from 'env-paths';
import { z } from 'zod';
// Not imported from codec-server/index.ts, because that file loads the server.
import { isLoopback } from '../security/codec-server/access';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/**
 * Tokenferry's environment variables. Each message continues a sentence that begins with the variable's name. A message
 * never quotes the value, which can contain a password.
 *
 * The `TEMPORAL_*` variables in this list are set by the Temporal Worker Controller. temporal.ts reads the other
 * `TEMPORAL_*` variables, which configure the connection. OpenTelemetry reads all `OTEL_*` variables itself. The
 * `OTEL_*` variables in this list are read here as well, because they turn traces on or off.
 */
const environment = z.object({
  TOKENFERRY_HOME: z.string().optional(),
  TOKENFERRY_LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}.`).default('info'),
  DATABASE_URL: databaseAddress().optional(),
  PORTAL_DATABASE_URL: databaseAddress().optional(),
  COMPANY_DATA_URL: baseAddress().optional(),
  COMPANY_DATA_API_KEY: z.string().optional(),
  TOKENFERRY_MASTER_KEY: z.string().optional(),
  TOKENFERRY_MASTER_KEY_FILE: z.string().optional(),
  TOKENFERRY_VAULT_SECRETS: z.string().optional(),
  TOKENFERRY_PAYLOAD_KEY: z.string().optional(),
  TOKENFERRY_PAYLOAD_KEY_FILE: z.string().optional(),
  TOKENFERRY_SERVICE_KEY: z.string().optional(),
  TOKENFERRY_SERVICE_KEY_FILE: z.string().optional(),
  TOKENFERRY_SIGNING_KEY_FILE: z.string().optional(),
  TOKENFERRY_PROVIDER_FINGERPRINT: z
    .string()
    .regex(/^(?:[\da-f]{4}[ -]?){8}$/i, 'must be a fingerprint: 8 groups of 4 hexadecimal digits.')
    .optional(),
  TOKENFERRY_WORKER_DEPLOYMENT: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must consist of 1 to 64 characters: A-Z, a-z, 0-9, hyphens and underscores.')
    .optional(),
  TEMPORAL_DEPLOYMENT_NAME: z.string().optional(),
  TEMPORAL_WORKER_BUILD_ID: z.string().optional(),
  TOKENFERRY_CLIENT_UI_URL: baseAddress().optional(),
  TOKENFERRY_PORTAL_URL: baseAddress().optional(),
  TOKENFERRY_OPENID_ISSUER: address('http:', 'https:')
    .refine(isEncrypted, 'must begin with https:, unless the address is on this machine.')
    .optional(),
  TOKENFERRY_OPENID_CLIENT_ID: z.string().max(500, 'must have at most 500 characters.').optional(),
  TOKENFERRY_OPENID_CLIENT_SECRET: z.string().optional(),
  TOKENFERRY_HEALTH_ADDRESS: z
    .string()
    .refine((text) => parseListenAddress(text) !== null, 'must be host:port, for example 0.0.0.0:9464 or [::]:9464.')
    .optional(),
  TOKENFERRY_METRICS_MIGRATIONS: z
    .string()
    .regex(/^(?:\d{1,2}|1\d\d|200)$/, 'must be a whole number from 0 to 200.')
    .optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: address('http:', 'https:').optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address('http:', 'https:').optional(),
  OTEL_SDK_DISABLED: z.string().optional(),
  OTEL_TRACES_EXPORTER: z.string().optional(),
  TOKENFERRY_WEBHOOK_URL: address('http:', 'https:').optional(),
  TOKENFERRY_WEBHOOK_SECRET: z
    .string()
    .regex(
      /^(?:whsec_)?[A-Za-z0-9+/]{32,}={0,2}$/,
      'must be at least 24 bytes in base64, with or without the prefix whsec_.',
    )
    .optional(),
});

export type Environment = z.infer<typeof environment>;

/**
 * Parses the variables. Adds a message for each invalid variable to `problems`, and returns the names of these
 * variables in `invalid`. Returns the valid variables even if others are invalid, so that all problems of a
 * configuration are reported together.
 */
export function readEnvironment(
  env: NodeJS.ProcessEnv,
  problems: string[],
): { environment: Environment; invalid: ReadonlySet<string> } {
  const parsed = environment.safeParse(env);
  const issues = parsed.error?.issues ?? [];
  problems.push(...issues.map(({ path, message }) => `${path.join('.')} ${message}`));
  const invalid = new Set(issues.map(({ path }) => String(path[0])));
  const valid = Object.entries(env).filter(([name]) => !invalid.has(name));
  return { environment: environment.parse(Object.fromEntries(valid)), invalid };
}

/** Drops empty variables, because `NAME=` in an environment file means that the variable is not set. */
export function withoutEmpty(env: NodeJS.ProcessEnv): Record<string, string> {
  const set = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  return Object.fromEntries(set);
}

/** Returns whether the address can be percent-decoded. Database drivers decode it, and would throw otherwise. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether the address begins with `https:` or is on this machine; false if the text is not an address. */
function isEncrypted(text: string): boolean {
  return URL.canParse(text) && (new URL(text).protocol === 'https:' || isLoopback(new URL(text).hostname));
}

/** Parses an address of Postgres. Special characters in its user and password must be percent-encoded. */
function databaseAddress() {
  return z
    .string()
    .refine((text) => !HAS_LATE_AT.test(text), {
      error:
        'must have the special characters of its user and password percent-encoded, for example %2F for a slash, and no "@" in the name of its database.',
      abort: true,
    })
    .pipe(address('postgres:', 'postgresql:'));
}

/**
 * Matches an address with an "@" in its path or fragment, or in a part of its query that has no "=" before the "@". The
 * text before this "@" is probably part of a password that is not percent-encoded. pg would then connect to the wrong
 * server, and that server's error can contain a part of the password. After a "=", the "@" can belong to the value of
 * an option, for example `user`.
 */
const HAS_LATE_AT = /^[a-z]+:\/\/[^/?#]*(?:\/[^?#]*|[^#]*#[^]*|(?:\/[^?#]*)?\?(?:[^#]*&)?[^=&#]*)@/i;

/** Parses an address to which paths are appended. Removes slashes from its end. */
function baseAddress() {
  return address('http:', 'https:').transform((text) => text.replace(/\/+$/, ''));
}

function address(...protocols: string[]) {
  return z
    .string()
    .refine(isDecodable, 'must have its special characters percent-encoded, for example %25 for a percent sign.')
    .refine((text) => protocols.some((protocol) => text.toLowerCase().startsWith(`${protocol}//`)), {
      error: `must be an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}.`,
      abort: true,
    })
    .refine((text) => URL.canParse(text), { error: 'must have a valid host and port.', abort: true });
}

/**
 * Returns the folder of this user's persistent files: `TOKENFERRY_HOME`. By default, this is Tokenferry's folder in the
 * place where the operating system keeps user data.
 */
export function homeFolder(configured: string | undefined): string {
  return configured === undefined ? envPaths('tokenferry', { suffix: '' }).data : path.resolve(configured);
}

/** An address on which a process listens. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Parses `host:port`, where an IPv6 address is in brackets. Returns null if the form or the port is invalid. */
export function parseListenAddress(text: string): ListenAddress | null {
  const [, v6, name, digits] = /^(?:\[([\da-f:.]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = v6 ?? name;
  const port = Number(digits);
  return host === undefined || port > 65_535 ? null : { host, port };
}
