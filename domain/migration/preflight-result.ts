/** The result of the preflight, which a migration keeps in its state. */
import type { FindingCode } from '../companies/finding';

/** The client's application at the platform, as the preflight found it at the service. */
export interface CheckedApplication {
  readonly clientId: string;
  readonly environment: string;
  /**
   * The person who supplied this application for this migration; null if it was not supplied for this migration, for
   * example because it was already registered.
   */
  readonly suppliedBy: string | null;
}

/** The result of the preflight, with one sentence per kind of finding. */
export interface Preflight {
  readonly companies: number;
  /** Digest of the checked rows, without credentials; null if there are no rows. */
  readonly manifestDigest: string | null;
  /** The person who supplied the manifest; null if there is none. */
  readonly suppliedBy: string | null;
  /** Errors. Empty: the details can be accepted. */
  readonly problems: readonly string[];
  /**
   * The same errors without the names of other clients, for the client's page. If absent, `problems` contains no such
   * names. Always absent in the state of a migration ({@link separateNames}).
   */
  readonly clientProblems?: readonly string[];
  /**
   * Advice about each problem, for support. Absent if there is none, if an earlier version made this check, or if it
   * was separated ({@link separateNames}).
   */
  readonly advice?: readonly string[];
  /** The code of each problem. */
  readonly problemCodes: readonly FindingCode[];
  /** Findings for a person to judge. */
  readonly warnings: readonly string[];
  /** The same warnings without the names of other clients. If absent, `warnings` contains no such names. */
  readonly clientWarnings?: readonly string[];
  /** Advice about each warning, for support. Absent for the same reasons as `advice`. */
  readonly warningAdvice?: readonly string[];
  /** Number of companies that do not move until they are corrected. The reasons are in the ledger. */
  readonly heldBack: number;
  /** The service's callback URL, which the client adds to its application at the platform. */
  readonly callbackUrl: string | null;
  /**
   * Null if none is registered. Absent if the service does not show it, if the migration needs none, if it was
   * separated ({@link separateNames}), or if an earlier version made this check.
   */
  readonly application?: CheckedApplication | null;
}

/** The texts of a preflight in full: support reads them, and they can contain names of other clients. */
export interface PreflightTexts extends Pick<Preflight, 'problems' | 'advice' | 'warnings' | 'warningAdvice'> {
  /** The same texts without these names, in the same order. {@link withNames} compares them with a preflight. */
  readonly forClient: Pick<Preflight, 'problems' | 'warnings'>;
  /** The registered application if not supplied for this migration, so maybe another client's. Otherwise absent. */
  readonly application?: CheckedApplication;
}

/**
 * Separates from a preflight the names of other clients, and an application that can belong to another client. The
 * migration keeps the preflight without them, because the client can read the migration's state in Temporal. The ledger
 * keeps the full texts.
 *
 * @returns `texts` is null if the preflight contains neither
 */
export function separateNames(full: Preflight): {
  readonly preflight: Preflight;
  readonly texts: PreflightTexts | null;
} {
  const { clientProblems, clientWarnings, application, ...others } = full;
  const isSeparated = application?.suppliedBy === null;
  const preflight = { ...others, ...(application === undefined || isSeparated ? {} : { application }) };
  const hasNames = clientProblems !== undefined || clientWarnings !== undefined;
  if (!hasNames && !isSeparated) return { preflight, texts: null };
  // The advice can contain names too, because it is for support.
  const { problems, advice, warnings, warningAdvice, ...rest } = preflight;
  const forClient = { problems: clientProblems ?? problems, warnings: clientWarnings ?? warnings };
  return {
    preflight: hasNames ? { ...rest, ...forClient } : preflight,
    texts: {
      ...{ problems, warnings, forClient },
      ...(advice && { advice }),
      ...(warningAdvice && { warningAdvice }),
      ...(isSeparated && { application }),
    },
  };
}

/** Adds the full texts of a preflight, unless they belong to another preflight. */
export function withNames(preflight: Preflight, texts: PreflightTexts): Preflight {
  const { forClient, application, ...full } = texts;
  const isSame = (one: readonly string[], other: readonly string[]): boolean =>
    one.length === other.length && one.every((text, index) => text === other[index]);
  if (!isSame(preflight.problems, forClient.problems) || !isSame(preflight.warnings, forClient.warnings))
    return preflight;
  const hasNames = !isSame(full.problems, forClient.problems) || !isSame(full.warnings, forClient.warnings);
  return {
    ...preflight,
    ...full,
    ...(hasNames && { clientProblems: forClient.problems, clientWarnings: forClient.warnings }),
    ...(preflight.application === undefined && application && { application }),
  };
}

/** The problems that the preflight found. The list leaves out a missing manifest, which has a field of its own. */
export interface DetailProblems {
  /** True if the migration was started without a manifest, and none has been supplied since. */
  readonly isManifestMissing: boolean;
  readonly problems: readonly string[];
}

export function detailProblems({ problems, problemCodes }: Preflight): DetailProblems {
  const missing = problemCodes.indexOf('no-companies');
  return { isManifestMissing: missing >= 0, problems: problems.filter((_, index) => index !== missing) };
}

/** Matches the end of a sentence that stands for several findings of the same kind (domain/preflight/findings.ts). */
const FOLDED = /; and [\d,]+ more (company|companies) like this$/;

/** Appends `place`, where the reader can see all findings, to each sentence that stands for several findings. */
export function withPlace(findings: readonly string[], place: string): readonly string[] {
  return findings.map((finding) => (FOLDED.test(finding) ? `${finding}; ${place}` : finding));
}
