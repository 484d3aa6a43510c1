import { types } from 'node:util';
import { readSmallFile } from './small-file';

/**
 * The variables that can also be given as files, because containers mount secrets as files. `<variable>_FILE` contains
 * the path. Variables with keys can also be given as files, but keys.ts reads them.
 */
const SECRETS = [
  ...['DATABASE_URL', 'PORTAL_DATABASE_URL', 'COMPANY_DATA_API_KEY', 'TOKENFERRY_WEBHOOK_SECRET'],
  'TOKENFERRY_OPENID_CLIENT_SECRET',
];

/**
 * Reads the secrets that are given as files.
 *
 * @param relevant the variables that the process uses; the files of other variables are not read
 * @returns the variables, including the secrets that were read, and the names of the secrets that cannot be used; a
 * message about each unusable secret is added to `problems`
 */
export function readSecretFiles(
  variables: Readonly<Record<string, string>>,
  relevant: ReadonlySet<string>,
  problems: string[],
): { variables: Record<string, string>; unusable: ReadonlySet<string> } {
  const read = { ...variables };
  const unusable = new Set<string>();
  for (const name of SECRETS.filter((each) => relevant.has(each))) {
    const file = variables[`${name}_FILE`];
    if (file === undefined) continue;
    const problem =
      name in variables ? `is set, but ${name} is set as well. Set only one of them.` : readInto(read, name, file);
    if (problem === null) continue;
    problems.push(`${name}_FILE ${problem}`);
    unusable.add(name);
  }
  return { variables: read, unusable };
}

function readInto(target: Record<string, string>, name: string, file: string): string | null {
  try {
    const content = readSmallFile(file).trim();
    if (content === '') return 'names an empty file. Write the secret into this file.';
    target[name] = content;
    return null;
  } catch (error) {
    if (!types.isNativeError(error)) throw error;
    return `cannot be read: ${error.message}. Check the path and your permissions.`;
  }
}
