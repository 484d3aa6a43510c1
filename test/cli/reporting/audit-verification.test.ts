/** Tests the verification of exported trails. It needs neither a ledger nor Temporal. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { createSigningKey, parseSigningKey, Secret } from '../../../security';
import { add, OF_CLEO, pauseBy, resumeBy, run } from '../../domain/decisions/approver-decisions';
import { ferry } from '../captured-terminal';
import { temporaryFolder } from '../../support/temporary-folder';

const [publicKey, OF_SUPPORT] = ['Cleo', 'Sam'].map(
  (person) => parseSigningKey(new Secret(createSigningKey(person))).publicKey,
);
const folder = temporaryFolder();
const file = path.join(folder, 'trail.jsonl');

function verify(text: string, migrationId = 'acme.xero') {
  writeFileSync(file, text);
  return ferry(['audit', migrationId, '--verify', file, '--approver', `client:Cleo:${publicKey}`], undefined, {});
}

test.each<[string, string, string]>([
  ['an empty file', '', 'is empty'],
  ['a file with empty lines', '\n\n', 'is empty'],
  ['a file that is not JSON', '{}\nnot JSON\n', 'is not an audit trail in the format jsonl: line 2 is not JSON'],
])('%s is refused, because it proves nothing', async (_, text, why) => {
  expect(await verify(text)).toMatchObject({
    exitCode: 1,
    err: `ferry: ${file} ${why}; export the trail again with: ferry audit acme.xero --format jsonl > trail.jsonl\n`,
  });
});

test.each([
  [
    'self-service',
    'The ledger says that this is a self-service migration. If people have approved steps of this migration, someone has changed the ledger.\n' +
      '✗ line 1: in self-service, a company is confirmed without a signature when it is supplied, so nothing proves the confirmation of 2 companies\n',
  ],
  ['managed', '✗ line 1: the ledger shows 2 companies as confirmed, but signed decisions confirm only 0\n!'],
])('confirmations without a decision are unproven if %s', async (route, expected) => {
  const confirmations = [{ by: 'Cleo', at: '2026-03-02T12:00:00.000Z', companies: 2 }];
  const released = route === 'managed' ? 'nothing' : 'all';
  const { exitCode, out } = await verify(`${JSON.stringify({ ledger: { route, released, confirmations } })}\n`);
  expect(exitCode).toBe(1);
  expect(out).toContain(expected);
});

test.each<[string, unknown]>([
  ['no signature', undefined],
  ['a malformed signature', 'signed'],
  ['the signature of another export', { publicKey: OF_SUPPORT, value: '0'.repeat(128) }],
])('with only keys of the client, an export whose last line has %s is not validly signed', async (_, signature) => {
  const at = '2026-03-02T12:00:00.000Z';
  const end = { migrationId: 'acme.xero', entries: 0, sha256: '', exportedBy: 'Sam', exportedAt: at };
  const { exitCode, out } = await verify(`${JSON.stringify({ end, signature })}\n`);
  expect(exitCode).toBe(0);
  expect(out).toContain('The export itself is not validly signed, so');
});

/** Returns an approver of the client with a new key. */
function approverNamed(by: string) {
  const key = parseSigningKey(new Secret(createSigningKey(by)));
  return { approver: { role: 'client', by, publicKey: key.publicKey }, key } as const;
}

test('three people whose keys were not passed are a list with commas', async () => {
  const [dana, eli, fay] = [approverNamed('Dana'), approverNamed('Eli'), approverNamed('Fay')] as const;
  const { unrecorded } = run(
    DEFAULT_DECISION_RULES,
    ...[OF_CLEO, dana.approver, eli.approver, fay.approver].map((each) => add(each)),
    ...[pauseBy(dana.approver, dana.key), resumeBy(eli.approver, eli.key), pauseBy(fay.approver, fay.key)],
  ).state;
  const lines = unrecorded.map(
    ({ decision, outcome: { applied, at }, signed }) => `${JSON.stringify({ decision, applied, at, signed })}\n`,
  );
  const { out } = await verify(lines.join(''));
  expect(out).toContain(
    'because the keys of Dana, Eli, and Fay were not passed. Ask Dana, Eli, and Fay for the fingerprints of their keys, and compare them with the fingerprints in the command below. If they are the same, run:\n',
  );
});

test('an export without a signature is recognised as the trail of another migration by its signed decisions', async () => {
  const cleo = approverNamed('Cleo');
  const trailOf = (...decisions: Parameters<typeof run>[1][]) =>
    run(DEFAULT_DECISION_RULES, add(cleo.approver), ...decisions)
      .state.unrecorded.map(
        ({ decision, outcome: { applied, at }, signed }) => `${JSON.stringify({ decision, applied, at, signed })}\n`,
      )
      .join('');
  const paused = pauseBy(cleo.approver, cleo.key);
  const both = trailOf(paused, resumeBy(cleo.approver, cleo.key));
  const { exitCode, out } = await verify(both, 'dune.xero');
  expect(exitCode).toBe(1);
  expect(out.split('\n')[0]).toBe(
    '✗ line 2: this is probably the trail of another migration, because none of the 2 signatures of applied decisions is for dune.xero; check the file and the migration. If the file was exported from dune.xero, every signed decision was changed',
  );
  expect(out).not.toMatch(/Ask|signature does not match/);
  expect((await verify(trailOf(paused), 'dune.xero')).out).toContain(
    'because the only signature of an applied decision is not for dune.xero;',
  );
  expect((await verify(both)).out).not.toContain('another migration');
});
