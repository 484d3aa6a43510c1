/** Checks the invariant `trail`: the audit trail agrees with the decisions that the driver sent. */
import type { Findings, LoggedDecision, Violation } from './evidence';
import { groupBy } from './facts';
import type { TrailEntry } from './ledger';

/**
 * Compares the audit trail with the log of decisions. A message that was sent twice with the same id has one entry. An
 * entry for a decision that the driver did not send is accepted if the decision was refused, because the trail also
 * keeps messages without a readable id.
 */
export function checkTrail(trail: readonly TrailEntry[], sent: readonly LoggedDecision[]): Findings {
  const entries = groupBy(trail, keyOf);
  const logged = groupBy(sent, keyOf);
  const violations: Violation[] = [];
  const report = (migration: string, decisionId: string, detail: string): void => {
    violations.push({ invariant: 'trail', migration, reference: '', detail: `decision ${decisionId}: ${detail}` });
  };
  for (const decisions of logged.values()) {
    const [first] = decisions;
    if (first === undefined) continue;
    const { migration, decisionId, message, role } = first;
    const recorded = entries.get(keyOf(first)) ?? [];
    const answers = decisions.map(({ answer }) => answer);
    if (recorded.length > 1) report(migration, decisionId, `the trail contains it ${recorded.length} times`);
    const [entry] = recorded;
    if (entry === undefined) {
      if (answers.includes('applied')) report(migration, decisionId, `${message} was applied, but is not in the trail`);
      continue;
    }
    if (entry.role !== null && entry.role !== role)
      report(migration, decisionId, `the trail attributes it to ${entry.role}`);
    if (answers.includes('applied') && !entry.applied)
      report(migration, decisionId, 'it was applied, but the trail shows it as refused');
    if (answers.includes('refused') && !answers.includes('applied') && entry.applied) {
      report(migration, decisionId, `${message} was refused, but the trail shows it as applied`);
    }
  }
  for (const entry of trail) {
    if (entry.applied && !logged.has(keyOf(entry)))
      report(entry.migration, entry.decisionId, 'the driver did not send it');
  }
  return { violations, checked: { trail: new Set([...entries.keys(), ...logged.keys()]).size } };
}

const keyOf = ({ migration, decisionId }: { readonly migration: string; readonly decisionId: string }): string =>
  `${migration}/${decisionId}`;
