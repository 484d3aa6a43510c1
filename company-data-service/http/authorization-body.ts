import type { Platform as PlatformEntry } from '../../platforms/platforms';
import { badRequest, type ValidationProblem } from './errors/errors';

/** Some platforms issue access tokens of several thousand characters. */
const MAX_TOKEN = 20_000;
/** Other fields are ids and names. Responses contain the organization's id, so the limit keeps responses small. */
const MAX_TEXT = 1_000;
const maxLength = (field: string) => (field.endsWith('Token') ? MAX_TOKEN : MAX_TEXT);

/**
 * Returns the credential in an authorization body. The body must have all required fields, no unknown fields, and only
 * strings that are neither empty nor too long. Problems name the fields and never quote their values.
 *
 * @throws ServiceError 400 with every invalid field
 */
export function validatedCredential(
  body: Readonly<Record<string, unknown>>,
  platform: PlatformEntry,
): Record<string, string> {
  const { requiredFields, optionalFields, name } = platform;
  const known = new Set([...requiredFields, ...optionalFields]);
  const credential: Record<string, string> = {};
  const problems: ValidationProblem[] = [];

  for (const field of requiredFields.filter((required) => !Object.hasOwn(body, required))) {
    problems.push({ itemId: field, message: `${field} is missing` });
  }
  for (const [field, value] of Object.entries(body)) {
    if (!known.has(field)) problems.push({ itemId: field, message: `${field} is not a field of ${name}` });
    else if (typeof value !== 'string') problems.push({ itemId: field, message: `${field} must be a string` });
    else if (value === '') problems.push({ itemId: field, message: `${field} is empty` });
    else if (value.length > maxLength(field)) {
      problems.push({ itemId: field, message: `${field} has more than ${maxLength(field)} characters` });
    } else credential[field] = value;
  }
  if (problems.length > 0) throw badRequest(problems);
  return credential;
}
