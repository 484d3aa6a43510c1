import type { Config, Part } from '../../config';
import { ConfigurationError, loadConfig } from '../../config';
import type { Examined } from './finding';
import { notChecked, problem } from './finding';

/** One part of the configuration, or what is wrong with it. */
export type Configured<P extends Part> = { readonly value: Config<P>[P] } | { readonly found: Examined };

/** @param whatFor where it can be done without: what cannot be done then */
export function configured<P extends Part>(
  env: NodeJS.ProcessEnv,
  part: P,
  about: string,
  whatFor?: string,
): Configured<P> {
  try {
    const config: Partial<Config<P>> = loadConfig([], env, [part]);
    const value = config[part];
    if (value !== undefined) return { value };
    if (whatFor !== undefined) return { found: notChecked(about, 'not configured here', whatFor) };
    loadConfig([part], env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { found: problem(about, error.problems.join(' ')) };
  }
  return { found: problem(about, 'not configured') };
}
