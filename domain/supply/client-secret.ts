import { PLATFORMS } from '../../platforms/platforms';
import { isPlaceholder } from '../text/placeholders';
import { manifestColumns } from './columns';
import { normalized } from './header-suggestions';
import { numberText } from '../text/sentences';

/** The longest client secret that the service accepts, in characters. */
const MAX_SECRET_LENGTH = 1_000;

/**
 * Returns why a text cannot be a client secret, as the predicate of a sentence whose subject is the secret; null if the
 * text can be a client secret. Detects files that contain something else, for example credentials. Never quotes the
 * text.
 *
 * @param secret without the spaces around it
 */
export function clientSecretProblem(secret: string): string | null {
  if (secret === '') return 'is empty';
  if (isJson(secret)) return 'contains JSON, not only a client secret';
  if (hasColumnNames(secret)) return 'contains column names, so it looks like a file of credentials or companies';
  if (/[\r\n]/.test(secret)) return 'contains more than one line, but a client secret is a single line';
  if (/[\p{Cc}\uFFFD]/u.test(secret)) return 'contains control characters, or is not text in UTF-8';
  if (secret.length > MAX_SECRET_LENGTH)
    return `is longer than ${numberText(MAX_SECRET_LENGTH)} characters, too long for a client secret`;
  return isPlaceholder(secret) ? 'contains only a placeholder' : null;
}

/** Returns whether the text is or begins like a JSON object or list. A number can be a client secret. */
function isJson(text: string): boolean {
  if (/^[[{]\s*["[{]/.test(text)) return true;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

function hasColumnNames(text: string): boolean {
  const [header = ''] = text.split(/[\r\n]/, 1);
  const names = header.split(/[,;\t]/).map((name) => normalized(name.replaceAll('"', '')));
  return names.filter((name) => COLUMN_NAMES.has(name)).length > 1;
}

const COLUMN_NAMES: ReadonlySet<string> = new Set(
  PLATFORMS.flatMap((platform) => {
    const { required, optional } = manifestColumns(platform, 'self-service');
    return [...required, ...optional].map(normalized);
  }),
);

/**
 * Asks a person to delete a file whose secrets have been sealed or registered with the service. The commands and the
 * portal use the same words.
 */
export function plainTextAdvice(file: string, content: 'credentials' | 'the client secret', afterwards = ''): string {
  return `${file} still contains ${content} in plain text. Delete it and all copies${afterwards}.`;
}
