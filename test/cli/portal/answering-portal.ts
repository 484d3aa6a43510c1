/** A portal whose answers a test chooses, and a client that has signed in to it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeSignIn } from '../../../cli/portal/sign-ins';
import { Secret } from '../../../security';
import { ferry } from '../captured-terminal';

/** The migration to which the client has signed in. */
export const ID = 'acme.xero';

export interface SignedInClient {
  /** The folder with the stored sign-in. */
  readonly home: string;
  readonly signingKey: string;
}

/** Runs a command of the client. The portal answers each request with `answer`. */
export async function runAgainst(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { home, signingKey }: SignedInClient,
  ...args: string[]
) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const portal = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { TOKENFERRY_HOME: home };
  const signIn = { portal, migrationId: ID, person: 'Cleo', role: 'client', provider: null } as const;
  writeSignIn(env, { ...signIn, signingKey: new Secret(signingKey), token: new Secret('t'.repeat(43)) });
  try {
    const result = await ferry(['--portal', portal, ...args], undefined, env);
    return { ...result, portal };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
