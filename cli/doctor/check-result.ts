import { ConfigurationError, loadConfig, type Config, type ConfigPartName } from '../../config';
import { reasonOf } from '../../portal/client/failed-connection';
import { failureText } from '../../store';

export interface CheckResult {
  readonly check: string;
  /**
   * `not-checked` if an optional part is not configured, if another problem must be fixed first, or if there is nothing
   * to check.
   */
  readonly verdict: 'ok' | 'problem' | 'not-checked';
  /** The finding. It never contains a secret. */
  readonly finding: string;
  /** The action that fixes the problem. */
  readonly advice?: string;
}

export const CHECK_TIMEOUT_MS = 5_000;

const resultWith =
  (verdict: CheckResult['verdict']) =>
  (check: string, finding: string, advice?: string): CheckResult => ({
    ...{ check, verdict, finding },
    ...(advice !== undefined && { advice }),
  });
export const ok = resultWith('ok');
export const problem = resultWith('problem');
export const notChecked = resultWith('not-checked');

/** Runs one check. An error becomes a problem with the given advice, which can depend on the error. */
export async function check(
  about: string,
  advice: string | ((error: unknown) => string),
  run: () => Promise<CheckResult | readonly CheckResult[]>,
): Promise<readonly CheckResult[]> {
  try {
    return [await run()].flat();
  } catch (error) {
    return [problem(about, findingOf(error), typeof advice === 'string' ? advice : advice(error))];
  }
}

/**
 * Returns the reason for an error on one line. The reason for a gRPC error is in the details of its cause, and the
 * reason for an error of `fetch` in the message of its cause.
 */
function findingOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const { cause } = error;
  const details = cause instanceof Error && 'details' in cause ? String(cause.details) : '';
  const reason = error.message === 'fetch failed' ? reasonOf(error) : error;
  return (details || failureText(reason)).replace(/\s+/g, ' ');
}

/** The difference between another clock and the clock of this machine. */
export interface ClockReading {
  readonly whose: string;
  /** Milliseconds by which the other clock is ahead; negative if it is behind. */
  readonly aheadMs: number;
}

/** One part of the configuration, or the check result that explains why it cannot be used. */
export type ConfigPart<P extends ConfigPartName> =
  | { readonly value: Config<P>[P] }
  | { readonly unusable: CheckResult };

/**
 * Reads one part of the configuration.
 *
 * @param neededFor only for an optional part: the advice if it is not configured
 */
export function readConfig<P extends ConfigPartName>(
  env: NodeJS.ProcessEnv,
  part: P,
  about: string,
  neededFor?: string,
): ConfigPart<P> {
  try {
    const config: Partial<Config<P>> = loadConfig([], env, [part]);
    const value = config[part];
    if (value !== undefined) return { value };
    if (neededFor !== undefined) return { unusable: notChecked(about, 'not configured on this machine', neededFor) };
    loadConfig([part], env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { unusable: problem(about, error.problems.join(' ')) };
  }
  return { unusable: problem(about, 'not configured') };
}
