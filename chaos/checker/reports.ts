/** Checks the invariant `report`: the reports agree with the service about each row. */
import { readFile } from 'node:fs/promises';
import { parseCsv } from './csv';
import type { Evidence, Findings, Violation } from './evidence';
import { isComplete, isLinkedTo, isUsedByService, type RowFacts } from './facts';
import type { Ledger } from './ledger';

/** The parts of the JSON report that the checker reads: docs/json.md, `ferry.report/1`. */
interface JsonReport {
  readonly ending: string | null;
  readonly decisions: readonly unknown[];
  readonly companies: readonly JsonCompany[];
}

interface JsonCompany {
  readonly reference: string;
  readonly state: string;
  readonly ledgerState: string;
  readonly companyId: string | null;
  readonly connectionId: string | null;
  readonly storedName: string | null;
  readonly evidence: readonly { readonly records?: { readonly dataType: string; readonly found: number } }[] | null;
  readonly switchOn: string;
}

/** The client's words in the CSV report, keyed by the states in the JSON report: docs/glossary.md. */
const WORDS: Readonly<Record<string, string>> = {
  moved: 'moved',
  moving: 'moving',
  'not-moved-yet': 'not moved yet',
  'must-reconnect': 'must reconnect',
  'not-moved': 'not moved',
  'left-out': 'left out',
};

/** @param skipped rows with a wrong outcome, which are not checked, because the reports can only repeat that outcome */
export async function checkReports(
  rows: readonly RowFacts[],
  { trail }: Ledger,
  reports: Evidence['reports'],
  skipped: ReadonlySet<string>,
): Promise<Findings> {
  const violations: Violation[] = [];
  let checked = 0;
  for (const { migration, json, csv } of reports) {
    const report = JSON.parse(await readFile(json, 'utf8')) as JsonReport;
    const table = parseCsv(await readFile(csv, 'utf8'));
    const ofMigration = rows.filter(({ row }) => row.migration === migration);
    const add = (reference: string, detail: string): void => {
      violations.push({ invariant: 'report', migration, reference, detail });
    };
    const references = new Set(ofMigration.map(({ row }) => row.reference));
    for (const { reference } of report.companies) {
      if (!references.has(reference)) add(reference, 'the JSON report has a row that the ledger does not have');
    }
    for (const { reference = '' } of table) {
      if (!references.has(reference)) add(reference, 'the CSV report has a row that the ledger does not have');
    }
    const decisions = trail.filter((entry) => entry.migration === migration && entry.content.kind !== 'unreadable');
    if (report.decisions.length !== decisions.length) {
      add('', `the JSON report has ${report.decisions.length} decisions, and the trail has ${decisions.length}`);
    }
    for (const facts of ofMigration) {
      checked += 1;
      const { reference } = facts.row;
      if (skipped.has(`${migration}/${reference}`)) continue;
      const inJson = report.companies.filter((company) => company.reference === reference);
      const inCsv = table.filter((record) => record['reference'] === reference);
      const [company] = inJson;
      const [record] = inCsv;
      if (company === undefined || inJson.length > 1) add(reference, `the JSON report lists it ${inJson.length} times`);
      else for (const detail of differences(facts, company)) add(reference, `JSON report: ${detail}`);
      if (record === undefined || inCsv.length > 1) add(reference, `the CSV report lists it ${inCsv.length} times`);
      else for (const detail of csvDifferences(facts, record, report.ending)) add(reference, `CSV report: ${detail}`);
    }
  }
  return { violations, checked: { report: checked } };
}

/** Derives the state for clients from the ledger. Other checks compare the ledger with the service. */
function expectedState({ row: { state, failure } }: RowFacts): string {
  switch (state) {
    case 'moved':
      return 'moved';
    case 'importing':
    case 'syncing':
      return 'moving';
    case 'failed':
      return failure === 'reauthorization-required' ? 'must-reconnect' : 'not-moved';
    case 'skipped':
    case 'excluded':
      return 'left-out';
    default:
      return 'not-moved-yet';
  }
}

function* differences(facts: RowFacts, company: JsonCompany): Generator<string> {
  const expected = expectedState(facts);
  if (company.state !== expected) yield `state ${company.state} instead of ${expected}`;
  if (company.ledgerState !== facts.row.state)
    yield `ledger state ${company.ledgerState} instead of ${facts.row.state}`;
  if (company.switchOn === 'yes' && isUsedByService(facts)) {
    yield 'the client may switch its syncing back on, although the service holds its grant';
  }
  yield* idDifferences(facts, company.companyId, company.connectionId, company.storedName);
  for (const { records } of company.evidence ?? []) {
    const isMoved = company.state === 'moved' && facts.own !== undefined;
    if (isMoved && records?.dataType === 'invoices' && records.found !== facts.own.invoices) {
      yield `${records.found} invoices, but the service has ${facts.own.invoices}`;
    }
  }
}

function* csvDifferences(
  facts: RowFacts,
  record: Readonly<Record<string, string>>,
  ending: string | null,
): Generator<string> {
  const word = WORDS[expectedState(facts)] ?? '';
  // Once the migration has ended, no more companies are moved.
  const expected = ending !== null && word === 'not moved yet' ? 'not moved' : word;
  if (record['outcome'] !== expected) yield `outcome ${record['outcome']} instead of ${expected}`;
  if (record['switch back on'] === 'yes' && isUsedByService(facts)) {
    yield 'the client may switch its syncing back on, although the service holds its grant';
  }
  if (expected === 'must reconnect' && record['link for the end customer'] === '') yield 'no link for the end customer';
  const text = (name: string): string | null => record[name] || null;
  yield* idDifferences(facts, text('company id'), text('connection id'), text('stored name'));
}

/**
 * Yields wrong ids and names. The ids and the name of a moved company must match the service. The ids of any other
 * company must match the ledger.
 */
function* idDifferences(
  { row, own, companies }: RowFacts,
  companyId: string | null,
  connectionId: string | null,
  storedName: string | null,
): Generator<string> {
  if (row.state !== 'moved') {
    if (companyId !== row.companyId) yield `company ${companyId} instead of ${row.companyId}`;
    if (connectionId !== row.connectionId) yield `connection ${connectionId} instead of ${row.connectionId}`;
    return;
  }
  const company = companies.find(({ id }) => id === companyId);
  if (company === undefined) {
    yield `company ${companyId}, which the service does not have for this row`;
    return;
  }
  if (storedName !== company.name) yield `name ${storedName}, but the service has ${company.name}`;
  const connection = company.connections.find(({ id }) => id === connectionId);
  if (connection === undefined || own === undefined) {
    yield `connection ${connectionId}, which the service does not have for this row`;
  } else if (!isLinkedTo(row, connection) || !isComplete(connection)) {
    yield `moved, but connection ${connectionId} (${connection.status}) is not linked to its organization or not complete`;
  }
}
