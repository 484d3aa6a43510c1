/**
 * `npm run conformance`: runs schemathesis against the Company Data Service, with requests that its OpenAPI description
 * allows and many that it does not allow. Fails on server errors and on responses that the description does not
 * contain.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createCompanyDataClient } from '../company-data-client';
import { createAccount, createKey, startService } from '../company-data-service';
import { Secret } from '../security';
import { createExample } from './conformance-example';
import { startPostgres } from '../stack/postgres/postgres';
import { acquireSchemathesis } from './schemathesis';
import { createTemporaryFolder } from '../stack/folders';
import { ensureServiceKeys } from '../stack/secrets';
import { createSecretCipher } from '../stack/service/secret-cipher';

/** Fixed, so that every run sends the same requests. */
const SEED = 20_261_121;
const EXAMPLES_PER_OPERATION = 40;
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'response_headers_conformance',
];
/** Requests per minute. */
const UNLIMITED = 1_000_000_000;

const ROLES = ['administrator', 'client'] as const;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const schemathesis = await acquireSchemathesis(process.env, say);
  const dataFolder = createTemporaryFolder();
  const postgres = await startPostgres({ dataFolder, port: 0, ephemeral: true, log: say });
  try {
    const pace = { syncBaseMs: 0, syncMsPerRecord: 0 };
    const cipher = createSecretCipher(ensureServiceKeys(dataFolder));
    const service = await startService({ databaseUrl: postgres.url, cipher, requestsPerMinute: UNLIMITED, ...pace });
    try {
      const accountId = await createAccount(postgres.url, { name: 'Conformance', plan: 'paid' });
      for (const role of ROLES) {
        const { key } = await createKey(postgres.url, { accountId, role });
        const folder = path.join(dataFolder, role);
        mkdirSync(folder);
        const conforms = await conformsToDescription({ schemathesis, url: service.url, key: new Secret(key), folder });
        say(`${conforms ? 'passed' : 'FAILED'}: conformance with the OpenAPI description, as ${role}`);
        if (!conforms) process.exitCode = 1;
      }
    } finally {
      await service.close();
    }
  } finally {
    await postgres.stop();
  }
  if (process.exitCode === 1) say(`To repeat these requests (seed ${SEED}), run: npm run conformance`);
}

interface Run {
  readonly schemathesis: string;
  readonly url: string;
  readonly key: Secret;
  /** An empty folder for the configuration and output of schemathesis. */
  readonly folder: string;
}

async function conformsToDescription({ schemathesis, url, key, folder }: Run): Promise<boolean> {
  const client = createCompanyDataClient({ baseUrl: url, apiKey: key });
  writeFileSync(path.join(folder, 'schemathesis.toml'), await createExample(client));
  await client.close();
  const authorization = `Authorization: Basic ${Buffer.from(key.reveal()).toString('base64')}`;
  const child = spawn(
    schemathesis,
    [
      ...['run', `${url}/openapi.json`, '--header', authorization, '--checks', CHECKS.join(',')],
      ...['--seed', String(SEED), '--max-examples', String(EXAMPLES_PER_OPERATION), '--generation-database', 'none'],
      ...['--phases', 'examples,coverage,fuzzing', '--workers', '1', '--no-color'],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], cwd: folder },
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
