import type { Preflight } from '../migration/migration-state';

/** The problems that the preflight found. The lists leave out a missing manifest, which has a field of its own. */
export interface DetailProblems {
  /** True if the migration was started without a manifest, and none has been supplied since. */
  readonly isManifestMissing: boolean;
  readonly problems: readonly string[];
  /** The same problems without the names of other clients. */
  readonly clientProblems: readonly string[];
}

export function detailProblems({ problems, clientProblems = problems, problemCodes }: Preflight): DetailProblems {
  const missing = problemCodes.indexOf('no-companies');
  const others = (all: readonly string[]) => all.filter((_, index) => index !== missing);
  return { isManifestMissing: missing >= 0, problems: others(problems), clientProblems: others(clientProblems) };
}
