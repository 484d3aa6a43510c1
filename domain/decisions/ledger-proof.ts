/**
 * Compares the ledger with the decisions in an exported audit trail that are signed, or need no signature. Anyone who
 * may write to Postgres can change the ledger without a decision, so a statement of the ledger is proven only if such a
 * decision supports it.
 */
import type { Decision, ManifestSupplied, Outcome } from '../migration/decision';
import type { DecisionRecord } from '../migration/migration-state';
import type { Route } from '../../platforms/platforms';
import { counted, numberText } from '../text/sentences';
import { fieldsOf } from '../text/untrusted-text';
import { NO_DECISIONS, releaseOf, withDecision, type RecordedDecisions, type Release } from './release';

/** The companies that the ledger shows as confirmed by one person at one time. */
export interface LedgerConfirmations {
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly companies: number;
}

/** The parts of the ledger that decisions must support. */
export interface LedgerSummary {
  readonly route: Route;
  readonly released: Release;
  readonly confirmations: readonly LedgerConfirmations[];
  /** The digest of the companies in the manifest, as amended. Absent in exports of earlier versions. */
  readonly manifestDigest?: string;
}

/** Collects decisions, and compares the ledger with them. */
export interface LedgerProof {
  /** Adds a decision that is signed or needs no signature. Decisions must be added in the order of the audit trail. */
  add(decision: DecisionRecord['decision'], outcome: Pick<Outcome, 'applied' | 'at'>): void;
  /** Returns how the ledger and the decisions differ, one sentence each; empty if they agree. */
  differences(summary: LedgerSummary): readonly string[];
}

export function createLedgerProof(): LedgerProof {
  let recorded: RecordedDecisions = NO_DECISIONS;
  const confirmable = new Map<string, number>();
  /** The last manifest that a decision has supplied; null if there is none, or if it has been amended since. */
  let manifest: ManifestSupplied | null = null;
  return {
    add(decision, { applied, at }) {
      if (!applied || decision.kind === 'unreadable') return;
      recorded = withDecision(recorded, decision, at);
      if (decision.kind === 'manifest-supplied') manifest = decision;
      if (decision.kind === 'manifest-amended') manifest = null;
      if (decision.kind === 'sync-disabled') confirmable.set(keyOf({ by: decision.by, at }), companiesOf(decision));
    },
    differences({ route, released, confirmations, manifestDigest }) {
      const confirmed = sum(confirmations.map(({ companies }) => companies));
      const proven = sum(confirmations.map((each) => Math.min(each.companies, confirmable.get(keyOf(each)) ?? 0)));
      const provenRelease = releaseOf(route, recorded);
      return [
        ...(confirmed === proven ? [] : [unprovenText(route, confirmed, proven)]),
        ...(RELEASES.indexOf(released) <= RELEASES.indexOf(provenRelease)
          ? []
          : [
              `the ledger allows ${TEXTS[released]} to be moved, but the decisions that are signed, or need no signature, allow ${provenRelease === 'nothing' ? '' : 'only '}${TEXTS[provenRelease]}`,
            ]),
        ...(manifest === null || manifestDigest === undefined || manifest.manifestDigest === manifestDigest
          ? []
          : [`the companies in the ledger differ from the manifest that ${manifest.by} has supplied`]),
      ];
    },
  };
}

/** Says that signed decisions do not prove all confirmations. In self-service, no decision confirms a company. */
function unprovenText(route: Route, confirmed: number, proven: number): string {
  const companies = counted(confirmed, 'company');
  return route === 'self-service'
    ? `in self-service, a company is confirmed without a signature when it is supplied, so nothing proves the confirmation of ${companies}`
    : `the ledger shows ${companies} as confirmed, but signed decisions confirm only ${numberText(proven)}`;
}

/** From the smallest release to the largest. */
const RELEASES: readonly Release[] = ['nothing', 'first-company', 'all'];

const TEXTS: Readonly<Record<Release, string>> = {
  nothing: 'none',
  'first-company': 'the first company',
  all: 'all companies',
};

function keyOf({ by, at }: Pick<LedgerConfirmations, 'by' | 'at'>): string {
  return `${at} ${by}`;
}

/** Returns the largest number of companies that the decision can confirm. */
function companiesOf({ companies }: Extract<Decision, { readonly kind: 'sync-disabled' }>): number {
  return companies === 'all' ? Number.MAX_SAFE_INTEGER : new Set(companies).size;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Checks the form of the line in an exported trail that states what is in the ledger. */
export function isLedgerLine(value: unknown): value is { readonly ledger: LedgerSummary } {
  const { released, confirmations } = fieldsOf(fieldsOf(value)['ledger']);
  return RELEASES.some((each) => each === released) && Array.isArray(confirmations);
}
