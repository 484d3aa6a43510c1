import { z } from 'zod';

/** pino's levels. */
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/**
 * The variables that are read here. Messages finish the sentence that the variable's name begins, and never repeat the
 * value: it may hold a password. Temporal's own variables are read by its SDK: see temporal.ts.
 */
const environment = z.object({
  TOKENFERRY_HOME: z.string().optional(),
  TOKENFERRY_LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}.`).default('info'),
  DATABASE_URL: address('postgres:', 'postgresql:').optional(),
  COMPANY_DATA_URL: address('http:', 'https:').optional(),
  COMPANY_DATA_API_KEY: z.string().optional(),
  TOKENFERRY_MASTER_KEY: z.string().optional(),
  TOKENFERRY_MASTER_KEY_FILE: z.string().optional(),
  TOKENFERRY_PAYLOAD_KEY: z.string().optional(),
  TOKENFERRY_PAYLOAD_KEY_FILE: z.string().optional(),
  TOKENFERRY_SIGNING_KEY_FILE: z.string().optional(),
  TOKENFERRY_WEBHOOK_URL: address('http:', 'https:').optional(),
  TOKENFERRY_WEBHOOK_SECRET: z
    .string()
    .regex(/^(?:whsec_)?[A-Za-z0-9+/]{32,}={0,2}$/, 'must be at least 24 bytes in base64, with or without whsec_.')
    .optional(),
});

export type Environment = z.infer<typeof environment>;

/**
 * Reads our own variables. What is wrong is added to `problems` and named in `wrong`; what is right is answered all the
 * same, so that everything can be reported together.
 */
export function readEnvironment(
  env: NodeJS.ProcessEnv,
  problems: string[],
): { environment: Environment; wrong: ReadonlySet<string> } {
  const parsed = environment.safeParse(env);
  const issues = parsed.error?.issues ?? [];
  problems.push(...issues.map(({ path, message }) => `${path.join('.')} ${message}`));
  const wrong = new Set(issues.map(({ path }) => String(path[0])));
  const right = Object.entries(env).filter(([name]) => !wrong.has(name));
  return { environment: environment.parse(Object.fromEntries(right)), wrong };
}

/** `NAME=` in a file of variables means that it is not set. */
export function withoutEmpty(env: NodeJS.ProcessEnv): Record<string, string> {
  const set = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  return Object.fromEntries(set);
}

function address(...protocols: string[]) {
  return z
    .string()
    .refine(
      (text) => URL.canParse(text) && protocols.includes(new URL(text).protocol),
      `must be an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}.`,
    );
}
