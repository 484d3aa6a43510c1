/** Reads the problems of a configuration that cannot be loaded. */
import { ConfigurationError } from '../../config';

export function problemsOf(load: () => unknown): readonly string[] {
  try {
    load();
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}
