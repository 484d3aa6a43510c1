/** The worker as a separate process. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { useLedger } from '../support/ledger';

const MAIN = path.join(__dirname, '../../dist/worker/main.js');
const CLOSED_PORT = '127.0.0.1:1';

const ledger = useLedger();
const secrets = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
afterAll(() => rmSync(secrets, { recursive: true }));

/** Runs a worker until it ends. */
async function runWorker(env: NodeJS.ProcessEnv): Promise<{ exitCode: number; lines: string[]; err: string }> {
  const key = randomBytes(32).toString('base64');
  const rest = {
    PATH: process.env['PATH'],
    ...{ TEMPORAL_ADDRESS: CLOSED_PORT, COMPANY_DATA_URL: `http://${CLOSED_PORT}`, COMPANY_DATA_API_KEY: 'key' },
    ...{ TOKENFERRY_MASTER_KEY: key, TOKENFERRY_PAYLOAD_KEY: key, TOKENFERRY_VAULT_SECRETS: secrets },
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN], { env: { ...rest, ...env } }, (error, out, err) =>
      resolve({ exitCode: Number(error?.code ?? 0), lines: out.trim().split('\n'), err }),
    );
  });
}

test.each([
  { down: 'the database', why: `the database at ${CLOSED_PORT}/ledger cannot be used` },
  { down: 'Temporal', why: `Temporal at ${CLOSED_PORT} cannot be reached` },
])(
  'a worker that starts while $down is down ends, and logs the reason as a JSON line',
  async ({ down, why }) => {
    const databaseUrl = down === 'Temporal' ? ledger.url : `postgres://tester@${CLOSED_PORT}/ledger`;
    const { exitCode, lines, err } = await runWorker({ DATABASE_URL: databaseUrl });
    expect(exitCode).toBe(1);
    expect(err).toContain(why);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      level: 60,
      msg: 'the worker has ended; correct the cause and start it again',
      err: { message: expect.stringContaining(why) as string },
    });
  },
  60_000,
);
