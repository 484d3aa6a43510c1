/** The checker of chaos runs: it accepts the evidence of a real migration, and detects tampering with the evidence. */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  check,
  INVARIANTS,
  type CheckResult,
  type Evidence,
  type Invariant,
  type LoggedDecision,
  type LoggedRequest,
} from '../../chaos/checker';
import { credentialDigest, startHttpProxy, type HttpProxy } from '../../chaos/cluster';
import { createTemporaryFolder } from '../../stack/folders';
import { ferry } from '../cli/captured-terminal';
import { useOrchestrator } from '../support/servers/orchestrator';
import { closedWindows, startTestMigration, SUPPORT } from '../workflows/running-migration';
import { execute } from '../support/servers/database';

const TOKENS = ['sbx-ok-2.check-1', 'sbx-ok-2.check-2', 'sbx-ok-2.check-3', 'sbx-revoked.check-4'];

const orchestrator = useOrchestrator();
let proxy: HttpProxy;
let folder: string;
let migration: string;
let evidence: Evidence;

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

beforeAll(async () => {
  folder = createTemporaryFolder();
  const requests: LoggedRequest[] = [];
  const log = (entry: LoggedRequest): void => void requests.push(entry);
  proxy = await startHttpProxy({ worker: 'one', target: orchestrator.service.url, log });
  await orchestrator.startWorker({ service: { ...orchestrator.config.service, url: proxy.url } });

  const started = await startTestMigration(orchestrator, 'checked', TOKENS, 2);
  migration = started.id;
  await started.readyToMove();
  await started.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  expect(await started.send('approve', { step: 'migrate-first-company', ...SUPPORT })).toBe('applied');
  await started.until(({ counts }) => counts.moved === 3 && counts.failed === 1);

  const report = async (format: string): Promise<string> =>
    file(`report.${format}`, (await ferry(['report', migration, '--format', format], undefined, orchestrator.env)).out);
  evidence = {
    ledgerUrl: ledgerUrl(),
    serviceDatabaseUrl: orchestrator.serviceDatabaseUrl,
    requestLog: file('requests.jsonl', jsonLines(requests.filter(({ credential }) => credential !== null))),
    decisionLog: file('decisions.jsonl', jsonLines(await decisionsInTheTrail())),
    reports: [{ migration, json: await report('json'), csv: await report('csv') }],
    credentials: await suppliedTokens(),
  };
});
afterAll(async () => {
  await proxy.close();
  rmSync(folder, { recursive: true });
});

const ledgerUrl = (): string => orchestrator.env['DATABASE_URL'] ?? '';
const jsonLines = (values: readonly unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');

function file(name: string, content: string): string {
  const at = path.join(folder, name);
  writeFileSync(at, content);
  return at;
}

async function query<T extends object>(url: string, statement: string): Promise<T[]> {
  return (await execute<T>(url, statement)).rows;
}

async function suppliedTokens(): Promise<Evidence['credentials']> {
  const rows = await query<{ row: number; reference: string; organization: string }>(
    ledgerUrl(),
    `select row, reference, organization from tokenferry.companies where migration_id = '${migration}' order by row`,
  );
  return rows.map(({ row, reference, organization }) => {
    const refreshToken = TOKENS[row - 1] ?? '';
    const bodySha256 = credentialDigest({ accessToken: 'any', refreshToken, realmId: organization });
    return { migration, reference, organization, sha256: digest(refreshToken), bodySha256 };
  });
}

/** Returns the recorded decisions as log entries. In this migration, every decision is sent once. */
async function decisionsInTheTrail(): Promise<LoggedDecision[]> {
  const rows = await query<{ id: string; at: Date; role: string; kind: string }>(
    ledgerUrl(),
    `select decision_id as id, at, role, content ->> 'kind' as kind from tokenferry.decisions
     where migration_id = '${migration}' order by position`,
  );
  return rows.map(({ id, at, role, kind }) => ({
    ...{ at: at.toISOString(), migration, decisionId: id, message: kind, role },
    answer: 'applied',
  }));
}

const namesOf = ({ violations }: CheckResult): readonly string[] => [
  ...new Set(violations.map((each) => each.invariant)),
];

it('accepts the evidence of a migration without violations', async () => {
  const { violations, checked, unknown } = await check(evidence);
  expect(violations).toEqual([]);
  expect(unknown).toEqual([]);
  expect(checked).toMatchObject({ outcome: 4, 'one-use': 4, confirmation: 4, window: 4, report: 4 });
  expect(checked.trail).toBeGreaterThan(8);
  expect(Object.keys(checked)).toEqual(Object.keys(INVARIANTS));
});

/** A change to one database, and the statement that undoes it. */
interface Change {
  readonly of: 'ledger' | 'service';
  readonly change: string;
  readonly undo: string;
}

const connectionOf = (row: number): string =>
  `(select c.id from company_data_service.connections c join company_data_service.companies k on k.id = c.company_id
    where k.tags ->> 'ferryRow' = '${migration}/${row}')`;
const companyOf = (row: number): string =>
  `(select id from company_data_service.companies where tags ->> 'ferryRow' = '${migration}/${row}' order by created_at limit 1)`;
const inLedger = (assignments: string, row: number): string =>
  `update tokenferry.companies set ${assignments} where migration_id = '${migration}' and row = ${row}`;

/** The ways to tamper with a database, each with the only invariant that it breaks if no report is checked. */
const CHANGES: readonly (readonly [string, Invariant, () => Change])[] = [
  [
    'a moved company without the data of one data set',
    'outcome',
    () => {
      const where = `where data_type = 'bills' and connection_id = ${connectionOf(2)}`;
      const set = (value: string) =>
        `update company_data_service.data_sets set latest_successful_sync_id = ${value} ${where}`;
      return { of: 'service', change: set('null'), undo: set('latest_sync_id') };
    },
  ],
  [
    'a company that must reconnect, although its connection is linked',
    'outcome',
    () => ({
      of: 'ledger',
      change: inLedger("state = 'failed', failure = 'reauthorization-required'", 3),
      undo: inLedger("state = 'moved', failure = null", 3),
    }),
  ],
  [
    'a used token whose company is not linked',
    'lost',
    () => {
      const set = (status: string) =>
        `update company_data_service.connections set status = '${status}' where id = ${connectionOf(2)}`;
      return { of: 'service', change: set('PendingAuth'), undo: set('Linked') };
    },
  ],
  [
    'an unknown outcome of a company whose connection is linked',
    'unknown',
    () => ({ of: 'ledger', change: inLedger("state = 'outcome-unknown'", 2), undo: inLedger("state = 'moved'", 2) }),
  ],
  [
    'a second company for a row',
    'one-company',
    () => ({
      of: 'service',
      change: `insert into company_data_service.companies (account_id, name, tags)
        select account_id, 'second', tags from company_data_service.companies where id = ${companyOf(2)}`,
      undo: `delete from company_data_service.companies where name = 'second'`,
    }),
  ],
  [
    'a second connection of a company',
    'one-connection',
    () => ({
      of: 'service',
      change: `insert into company_data_service.connections (company_id, platform_key, data_types)
        values (${companyOf(2)}, 'qhyg', '{}')`,
      undo: `delete from company_data_service.connections where data_types = '{}'`,
    }),
  ],
  [
    'one authorization that two connections hold',
    'one-use',
    () => {
      const set = (value: string) =>
        `update company_data_service.credentials set accepted_digest = ${value} where connection_id = ${connectionOf(3)}`;
      const other = `(select accepted_digest from company_data_service.credentials where connection_id = ${connectionOf(2)})`;
      const kept = 'kept_digest';
      return {
        of: 'service',
        change: `create table ${kept} as select accepted_digest as digest from company_data_service.credentials
          where connection_id = ${connectionOf(3)}; ${set(other)}`,
        undo: `${set(`(select digest from ${kept})`)}; drop table ${kept}`,
      };
    },
  ],
];

it.each(CHANGES)('names %s as "%s"', async (_, invariant, changeOf) => {
  const { of, change, undo } = changeOf();
  const url = of === 'ledger' ? evidence.ledgerUrl : evidence.serviceDatabaseUrl;
  await query(url, change);
  try {
    const result = await check({ ...evidence, reports: [] });
    expect(namesOf(result)).toEqual([invariant]);
    expect(namesOf(await check(evidence))).toContain(invariant);
  } finally {
    await query(url, undo);
  }
});

/**
 * Writes a request log with an additional request, which sends the token of `row` to the connection of `connectionRow`.
 * Returns its path.
 */
async function sending(at: number, row: number, connectionRow = row): Promise<string> {
  const [found] = await query<{ id: string }>(
    evidence.serviceDatabaseUrl,
    `select ${connectionOf(connectionRow)} as id`,
  );
  return tampered('requestLog', (text) => {
    const path = `/companies/any/connections/${found?.id}/authorization`;
    const credential = evidence.credentials[row - 1]?.bodySha256;
    const sample = JSON.parse(text.split('\n')[0] ?? '') as LoggedRequest;
    return jsonLines([{ ...sample, at: new Date(at).toISOString(), path, credential }]) + text;
  });
}

function tampered(log: 'requestLog' | 'decisionLog', change: (text: string) => string): string {
  return file(`tampered-${log}`, change(readFileSync(evidence[log], 'utf8')));
}

async function decidedAt(kind: string): Promise<number> {
  const found = (await decisionsInTheTrail()).findLast(({ message }) => message === kind);
  return Date.parse(found?.at ?? '');
}

it('names a token that was sent for a second connection', async () => {
  const requestLog = await sending(Date.now(), 2, 3);
  expect(namesOf(await check({ ...evidence, requestLog }))).toEqual(['one-use']);
});

it('names a token that was sent before the confirmation of the client', async () => {
  const requestLog = await sending((await decidedAt('sync-disabled')) - 1, 1);
  expect(namesOf(await check({ ...evidence, requestLog }))).toEqual(['confirmation']);
});

it('names a second company that was sent before the approval of the first company', async () => {
  const requestLog = await sending((await decidedAt('credentials-supplied')) + 1, 2);
  expect(namesOf(await check({ ...evidence, requestLog }))).toEqual(['release']);
});

it('names tokens that were sent outside the windows', async () => {
  const windows = closedWindows() as NonNullable<Evidence['windows']>[0]['windows'];
  const { violations } = await check({ ...evidence, windows: [{ migration, windows }] });
  expect([...new Set(violations.map(({ invariant, reference }) => `${invariant} ${reference}`))].sort()).toEqual(
    evidence.credentials.map(({ reference }) => `window ${reference}`),
  );
});

it('names a decision that is missing from the trail, was recorded although it was refused, or was never sent', async () => {
  const lost = tampered('decisionLog', (text) => {
    const [line = ''] = text.split('\n');
    return text + jsonLines([{ ...(JSON.parse(line) as LoggedDecision), decisionId: 'lost' }]);
  });
  const { violations } = await check({ ...evidence, decisionLog: lost });
  expect(violations).toMatchObject([
    { invariant: 'trail', detail: expect.stringContaining('not in the trail') as string },
  ]);
  const refused = tampered('decisionLog', (text) => text.replace('"answer":"applied"', '"answer":"refused"'));
  expect(namesOf(await check({ ...evidence, decisionLog: refused }))).toEqual(['trail']);
  const injected = tampered('decisionLog', (text) => text.split('\n').slice(1).join('\n'));
  const result = await check({ ...evidence, decisionLog: injected });
  expect(result.violations).toMatchObject([
    { invariant: 'trail', detail: expect.stringContaining('did not send') as string },
  ]);
});

it.each([
  ['a wrong word', 'csv', 'must reconnect', 'moved'],
  ['a missing row', 'csv', /\nR-2,[^\n]*/, ''],
  ['a wrong state', 'json', '"state":"must-reconnect"', '"state":"moved"'],
  ['a wrong number of records', 'json', '"found":2', '"found":3'],
  ['a wrong connection', 'json', /"connectionId":"[0-9a-f]{8}/, '"connectionId":"00000000'],
] as const)('names a report with %s in its %s', async (_, format, before, after) => {
  const reports = evidence.reports.map((report) => {
    const text = readFileSync(report[format], 'utf8');
    const changed = text.replaceAll(/": /g, '":').replace(before, after);
    expect(changed).not.toBe(text);
    return { ...report, [format]: file(`tampered.${format}`, changed) };
  });
  expect(namesOf(await check({ ...evidence, reports }))).toEqual(['report']);
});
