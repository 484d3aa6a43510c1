/**
 * The servers that all test files of a run share: Postgres, with a database of each schema to copy, and Temporal's dev
 * server. Each starts when the first test asks for it, so that a run of pure tests starts no server. They belong to
 * jest's main process, because jest's workers end during a run. A test asks that process for a server's address over
 * HTTP, and global-setup.ts answers.
 */

/** The variable with the URL at which jest's main process answers. global-setup.ts sets it. */
export const SERVERS_URL = 'TOKENFERRY_TEST_SERVERS';
/** The variable with the path of the `temporal` command. `npm test` or global-setup.ts sets it. */
export const TEMPORAL_CLI = 'TOKENFERRY_TEST_TEMPORAL_CLI';

/** Returns the superuser's URL of the shared Postgres. */
export function sharedPostgres(): Promise<string> {
  return ask('postgres');
}

/** Returns the name of an empty database in the shared Postgres that has this schema. Tests only copy it. */
export function sharedSchema(schema: Schema): Promise<string> {
  return ask(schema);
}

/** Returns the address of the shared Temporal server. */
export function sharedTemporal(): Promise<string> {
  return ask('temporal');
}

/** Returns the path of the `temporal` command. */
export function temporalCli(): string {
  return variable(TEMPORAL_CLI);
}

/** The schema of the ledger, or of the Company Data Service. */
export type Schema = 'ledger' | 'service';
export type SharedServer = 'postgres' | 'temporal' | Schema;

async function ask(name: SharedServer): Promise<string> {
  const answer = await fetch(new URL(name, variable(SERVERS_URL)));
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the shared ${name} did not start: ${text}`);
  return text;
}

function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: test/support/jest/global-setup.ts has not run`);
  return value;
}
