/**
 * `npm run conformance`: schemathesis asks the Company Data Service everything that its own description allows, and much
 * that it does not. No answer may be a server error, or one that the description lacks.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createAccount, createKey, startService } from '../company-data-service';
import { startPostgres } from './postgres';
import { acquireSchemathesis } from './schemathesis';
import { createTemporaryFolder } from './temporary-folder';

/** Another one finds other things; this one finds the same each time. */
const SEED = 20_261_121;
const EXAMPLES_PER_OPERATION = 40;
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'response_headers_conformance',
];
/** What it asks is not held back. */
const UNLIMITED = 1_000_000_000;

const ROLES = ['administrator', 'client'] as const;

async function main(): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const schemathesis = await acquireSchemathesis(process.env, say);
  const postgres = await startPostgres({ dataFolder: createTemporaryFolder(), port: 0, ephemeral: true, log: say });
  try {
    const service = await startService({ databaseUrl: postgres.url, requestsPerMinute: UNLIMITED });
    try {
      const accountId = await createAccount(postgres.url, { name: 'Conformance', plan: 'paid' });
      for (const role of ROLES) {
        const { key } = await createKey(postgres.url, { accountId, role });
        const authorization = `Authorization: Basic ${Buffer.from(key).toString('base64')}`;
        const conforms = await answersConform(schemathesis, [`${service.url}/openapi.json`, '--header', authorization]);
        say(`${conforms ? 'passed' : 'FAILED'}: conformance with the description, as ${role}`);
        if (!conforms) process.exitCode = 1;
      }
    } finally {
      await service.close();
    }
  } finally {
    await postgres.stop();
  }
}

async function answersConform(schemathesis: string, target: readonly string[]): Promise<boolean> {
  const child = spawn(
    schemathesis,
    [
      ...['run', ...target, '--checks', CHECKS.join(',')],
      ...['--seed', String(SEED), '--max-examples', String(EXAMPLES_PER_OPERATION), '--generation-database', 'none'],
      ...['--phases', 'examples,coverage,fuzzing', '--workers', '2', '--no-color'],
    ],
    // It leaves a folder behind where it runs.
    { stdio: ['ignore', 'pipe', 'inherit'], cwd: createTemporaryFolder() },
  );
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) process.stdout.write(output);
  return code === 0;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
