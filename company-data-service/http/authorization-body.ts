import type { Platform as PlatformEntry } from '../../platforms/platforms';
import { badRequest, type ValidationProblem } from './errors/errors';

/**
 * Validates an authorization body: all required fields, no unknown ones, only strings. Problems name fields and never
 * quote their values.
 *
 * @throws ServiceError 400 with every faulty field
 */
export function credentialIn(body: Readonly<Record<string, unknown>>, platform: PlatformEntry): Record<string, string> {
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
    else credential[field] = value;
  }
  if (problems.length > 0) throw badRequest(problems);
  return credential;
}
