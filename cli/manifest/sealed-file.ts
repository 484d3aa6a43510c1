/**
 * Sealed files: credentials, or the client secret of an application, that the client has sealed with a migration key
 * (security/migration-key.ts). Only a worker can open them.
 *
 * A file of credentials has one JSON object per line: a header, and then one line per company. The references and the
 * times are readable; a company's sealed credential cannot be opened if its reference or time is changed.
 */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import {
  createSealer,
  fingerprintOf,
  jsonOf,
  sealClientSecret,
  sealCredential,
  type MigrationKey,
  type Secret,
} from '../../security';
import type { SealedApplication, SealedCredential } from '../../store';
import { CommandFailed } from '../shared/errors';
import { unreadableFile } from '../shared/unreadable-file';
import { HashedKeyMap } from './hashed-key-map';
import { writeNew } from './new-file';
import { SEALED_FILE_BEGINNING } from '../../domain/supply/file-kind';
import { obtainedElsewhereProblem } from '../../domain/supply/row-parser';
import type { SecretCredential } from './row-file';

const SPECIFY_SEALED = 'nothing was sent; specify the file that ferry seal has written';

const MAX_BYTES = 512 * 1024 * 1024;

/** Two tokens of the maximum length, 16,384 characters each, are about 44,000 characters when sealed and in base64. */
const box = z.base64().max(100_000);
const forKey = { migration: z.string().min(1), keyFingerprint: z.string() };
const credentialsHeader = z.object({
  tokenferry: z.literal('sealed-credentials/1'),
  ...forKey,
  companies: z.number().int().min(1),
});
const credentialLine = z.object({
  reference: z.string().min(1).max(100),
  obtainedAt: z.iso.datetime({ precision: 3 }),
  sealed: box,
});
const applicationFile = z.object({
  tokenferry: z.literal('sealed-application/1'),
  ...forKey,
  clientId: z.string().min(1).max(250),
  environment: z.enum(['production', 'sandbox']),
  sealed: box,
});

/** The migration and the key for which a file was sealed. */
interface SealedFor {
  readonly migrationId: string;
  readonly keyFingerprint: string;
}

export interface SealedCredentials extends SealedFor {
  readonly companies: number;
  /** Each iteration reads the file again. */
  readonly credentials: AsyncIterable<SealedCredential>;
}

/**
 * Number of sealed credentials that share one HPKE encapsulation: one new key pair of the sender (security/hpke.ts).
 * Sharing saves time, because an encapsulation takes ten times as long as the rest of the sealing.
 */
const BOXES_PER_ENCAPSULATION = 1_000;

/**
 * Seals credentials into a new file that only its owner can read.
 *
 * @throws {CommandFailed} if the file exists or cannot be created
 */
export async function writeSealedCredentials(
  file: string,
  key: MigrationKey,
  companies: number,
  credentials: AsyncIterable<SecretCredential>,
): Promise<void> {
  await writeNew(file, sealedLines());

  async function* sealedLines(): AsyncGenerator<string> {
    yield lineOf({ tokenferry: 'sealed-credentials/1', ...keyFields(key), companies });
    let sealed = 0;
    let seal = createSealer(key.publicKey, key.migrationId);
    for await (const credential of credentials) {
      if (sealed > 0 && sealed % BOXES_PER_ENCAPSULATION === 0) seal = createSealer(key.publicKey, key.migrationId);
      sealed += 1;
      const { reference, obtainedAt } = credential;
      const bytes = sealCredential(seal, key.migrationId, credential);
      yield lineOf({ reference, obtainedAt, sealed: bytes.toString('base64') });
    }
  }
}

interface PlainApplication {
  readonly clientId: string;
  readonly environment: 'production' | 'sandbox';
  readonly clientSecret: Secret;
}

/**
 * Seals the client secret of an application into a new file.
 *
 * @throws {CommandFailed} if the file exists or cannot be created
 */
export async function writeSealedApplication(
  file: string,
  key: MigrationKey,
  application: PlainApplication,
): Promise<void> {
  const { clientId, environment } = application;
  const sealed = sealClientSecret(createSealer(key.publicKey, key.migrationId), key.migrationId, application).toString(
    'base64',
  );
  const content = { tokenferry: 'sealed-application/1', ...keyFields(key), clientId, environment, sealed };
  await writeNew(file, [lineOf(content)]);
}

const keyFields = ({ migrationId, publicKey }: MigrationKey) => ({
  migration: migrationId,
  keyFingerprint: fingerprintOf(publicKey),
});

const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;

/**
 * Returns whether the file is a sealed file. Returns false if the file cannot be read; the code that reads it reports
 * the error.
 */
export async function isSealedFile(file: string): Promise<boolean> {
  return beginsLikeSealed(file).catch(() => false);
}

/** @throws if the file cannot be opened */
async function beginsLikeSealed(file: string): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    if (!(await handle.stat()).isFile()) return false;
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(SEALED_FILE_BEGINNING.length),
      0,
      SEALED_FILE_BEGINNING.length,
      0,
    );
    return buffer.toString('utf8', 0, bytesRead) === SEALED_FILE_BEGINNING;
  } finally {
    await handle.close();
  }
}

/**
 * Checks a whole file of sealed credentials.
 *
 * @throws {CommandFailed} if the file is too large, is incomplete or was altered, or contains something else or an
 *   impossible time
 */
export async function readSealedCredentials(file: string): Promise<SealedCredentials> {
  const now = new Date();
  const found: { header?: z.infer<typeof credentialsHeader> } = {};
  async function* credentials(): AsyncGenerator<SealedCredential> {
    const references = new HashedKeyMap();
    let count = 0;
    for await (const line of linesOf(file)) {
      count += 1;
      if (count === 1) {
        found.header = parsed(file, 1, credentialsHeader, line);
        continue;
      }
      const { reference, obtainedAt, sealed } = parsed(file, count, credentialLine, line);
      if (references.update(reference, () => count) > 0) throw damaged(file, count);
      assertPossible(file, count, obtainedAt, now);
      yield { reference, obtainedAt, sealed: Buffer.from(sealed, 'base64') };
    }
    if (found.header === undefined || count - 1 !== found.header.companies) throw damaged(file, Math.max(1, count));
  }
  for await (const _ of credentials());
  if (found.header === undefined) throw damaged(file, 1);
  const { migration, keyFingerprint, companies } = found.header;
  return {
    migrationId: migration,
    keyFingerprint,
    companies,
    credentials: { [Symbol.asyncIterator]: credentials },
  };
}

/** Refuses an `obtainedAt` that an unsealed file could not have either, for example if the client's clock was wrong. */
function assertPossible(file: string, line: number, obtainedAt: string, now: Date): void {
  const problem = obtainedElsewhereProblem(new Date(obtainedAt), now);
  if (problem === null) return;
  // Without obtainedAt, the time of the original file counts, and some programs set it to 1970.
  const advice =
    new Date(obtainedAt) > now
      ? 'check the clock of this machine; if it is right, correct the clock of the machine on which the file was sealed, and seal the original file again'
      : 'the client must seal the original file again, and specify the time of the export with --obtained-at';
  throw new CommandFailed(
    `${file}, line ${line}: the time at which the credential was obtained is ${problem}`,
    `nothing was stored; ${advice}`,
  );
}

/**
 * Reads an application with its sealed client secret.
 *
 * @throws {CommandFailed} if the file cannot be read, is not sealed, is too large, is incomplete or was altered, or
 *   contains something else
 */
export async function readSealedApplication(file: string): Promise<SealedFor & SealedApplication> {
  const isSealed = await beginsLikeSealed(file).catch((error: unknown) => {
    throw unreadableFile(file, error, SPECIFY_SEALED);
  });
  if (!isSealed) throw new CommandFailed(`${file} is not a sealed file`, SPECIFY_SEALED);
  for await (const line of linesOf(file)) {
    const { migration, sealed, ...rest } = parsed(file, 1, applicationFile, line);
    return { migrationId: migration, ...rest, sealed: Buffer.from(sealed, 'base64') };
  }
  throw damaged(file, 1);
}

async function* linesOf(file: string): AsyncGenerator<string> {
  if ((await stat(file)).size > MAX_BYTES)
    throw new CommandFailed(
      `${file} is larger than 512 MB`,
      'split the original file into several files, and seal each file',
    );
  const input = createReadStream(file, { encoding: 'utf8' });
  const closed = once(input, 'close');
  try {
    yield* createInterface({ input, crlfDelay: Infinity });
  } finally {
    // A reader can stop early, while the next piece is being read.
    input.destroy();
    await closed;
  }
}

function parsed<Schema extends z.ZodType>(file: string, line: number, schema: Schema, text: string): z.infer<Schema> {
  const result = schema.safeParse(jsonOf(text));
  if (!result.success) throw damaged(file, line);
  return result.data;
}

function damaged(file: string, line: number): CommandFailed {
  return new CommandFailed(
    `${file} is incomplete, was altered, or is another kind of sealed file (line ${line})`,
    'nothing was stored; check that this is the right file; if it is, seal the original file again, and supply the new sealed file',
  );
}
