import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { findCompany, type Database } from '../../../store';

export type CredentialToken = readonly [reference: string, token: string];

/** Writes a credential file whose credentials were obtained just now, and returns its path. */
export async function writeCredentials(
  folder: string,
  db: Database,
  migrationId: string,
  tokens: readonly CredentialToken[],
): Promise<string> {
  const lines = await Promise.all(
    tokens.map(async ([reference, token]) => {
      const organization = (await findCompany(db, migrationId, { reference }))?.organization ?? '';
      return `${reference},any,${token},${organization},${new Date().toISOString()}`;
    }),
  );
  const file = path.join(folder, `${tokens.map(([reference]) => reference).join('-')}.csv`);
  writeFileSync(file, ['reference,accessToken,refreshToken,realmId,obtainedAt', ...lines].join('\n'));
  return file;
}
