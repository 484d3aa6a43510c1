/**
 * The independent checker of a chaos run. From both databases, the reports and the logs of requests and decisions, it
 * determines whether every invariant held.
 *
 * It is written from the specification of the service, the schemas of the databases and the glossary. It shares no code
 * and no types with the product or with the rest of `chaos/`, so that it cannot repeat their mistakes.
 */
import {
  INVARIANTS,
  readJsonLines,
  type CheckResult,
  type Evidence,
  type Invariant,
  type LoggedDecision,
  type LoggedRequest,
} from './evidence';
import { joinFacts, sendsOf } from './facts';
import { readLedger } from './ledger';
import { checkOutcomes } from './outcomes';
import { checkPermissions } from './permissions';
import { checkReports } from './reports';
import { readService } from './service';
import { checkTrail } from './trail';
import { checkUniqueness } from './uniqueness';

export { INVARIANTS } from './evidence';
export type { CheckResult, Evidence, Invariant, LoggedDecision, LoggedRequest, SuppliedToken } from './evidence';
export type { UnknownRow, Violation, WeeklyWindow } from './evidence';

/**
 * Checks the migrations that have a credential or a report in the evidence. Changes nothing. The run must be over: no
 * worker may change the databases meanwhile.
 *
 * @throws if a file or a database cannot be read, or if the ledger does not have a migration of the evidence
 */
export async function check(evidence: Evidence): Promise<CheckResult> {
  const ids = [...new Set([...evidence.credentials, ...evidence.reports].map(({ migration }) => migration))];
  const ledger = await readLedger(evidence.ledgerUrl, ids);
  const missing = ids.filter((id) => !ledger.migrations.has(id));
  if (missing.length > 0) throw new Error(`the ledger does not have the migrations ${missing.join(', ')}`);
  const digests = evidence.credentials.map(({ sha256 }) => sha256);
  const service = await readService(evidence.serviceDatabaseUrl, ledger.rows, digests);
  const sends = sendsOf(await readJsonLines<LoggedRequest>(evidence.requestLog));
  const decisions = await readJsonLines<LoggedDecision>(evidence.decisionLog);
  const rows = joinFacts(ledger, service, evidence.credentials, sends);

  const { unknown, ...outcomes } = checkOutcomes(rows);
  const wrong = new Set(outcomes.violations.map(({ migration, reference }) => `${migration}/${reference}`));
  const findings = [
    outcomes,
    checkUniqueness(rows),
    checkPermissions(rows, ledger, evidence),
    checkTrail(
      ledger.trail,
      decisions.filter(({ migration }) => ids.includes(migration)),
    ),
    await checkReports(rows, ledger, evidence.reports, wrong),
  ];
  const none = Object.fromEntries(Object.keys(INVARIANTS).map((invariant) => [invariant, 0]));
  return {
    violations: findings.flatMap(({ violations }) => violations),
    checked: Object.assign(none, ...findings.map(({ checked }) => checked)) as Record<Invariant, number>,
    unknown,
  };
}
