/** Tests a migration that accepts only signed decisions, with people on several machines. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { until } from '../../support/async';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { temporaryFolder } from '../../support/temporary-folder';

const orchestrator = useOrchestratorWithWorker();
const folder = temporaryFolder();
const publicKeys = new Map<string, string>();
const [ID, OTHER] = ['signing.quickbooks-online', 'signing.quickbooks-online.other'];

/** Returns the environment of a person's machine. Its home folder contains a signing key if the person has one. */
const atMachineOf = (machine: string): NodeJS.ProcessEnv => ({
  ...orchestrator.env,
  TOKENFERRY_HOME: path.join(folder, machine),
});
const run = (machine: string, ...args: string[]) => ferry(args, undefined, atMachineOf(machine));

beforeAll(async () => {
  // Eve has a key that claims to be Sam's. Pia has no key.
  for (const [machine, name] of [
    ['sam', 'Sam'],
    ['cleo', 'Cleo'],
    ['eve', 'Sam'],
  ] as const) {
    mkdirSync(path.join(folder, machine));
    const { out } = await run(machine, 'keys', 'create', '--by', name, '--json');
    publicKeys.set(machine, (JSON.parse(out) as { publicKey: string }).publicKey);
  }
  await start(ID, '7100000000000001');
  await start(OTHER, '7100000000000002', '--label', 'other');
});

const approvers = (): string[] => [
  ...['--approver', `support:Sam:${publicKeys.get('sam')}`],
  ...['--approver', `client:Cleo:${publicKeys.get('cleo')}`],
];

async function start(id: string, organization: string, ...more: string[]): Promise<void> {
  const manifest = path.join(folder, `${organization}.csv`);
  writeFileSync(manifest, `reference,name,realmId,expectedInvoices\nC-1,Corner Shop,${organization},3\n`);
  const options = ['--platform', 'quickbooks-online', '--client', 'signing', ...more, ...approvers()];
  const { exitCode, out, err } = await run('pia', 'start', manifest, ...options);
  expect({ exitCode, out, err }).toMatchObject({ exitCode: 0, out: expect.stringContaining(id) as string });
}

interface Entry {
  readonly applied: boolean;
  readonly outcome: string;
  readonly signed?: { readonly content: Readonly<Record<string, unknown>>; readonly signature: unknown };
}

async function trailOf(id: string): Promise<readonly Entry[]> {
  const { out } = await run('pia', 'audit', id, '--json');
  return (JSON.parse(out) as { trail: Entry[] }).trail;
}

const approve = ['approve', ID, 'supply-details', '--yes'];

test.each<[string, string, readonly string[], string]>([
  ['an unsigned decision', 'pia', ['--by', 'Sam'], 'must be signed by an approver; this one is not'],
  [
    "a decision in an approver's name, signed with another key,",
    'eve',
    [],
    'a key that does not belong to an approver',
  ],
  [
    'a decision that an approver has signed in the other role',
    'sam',
    ['--as', 'client'],
    'is signed with the key of "Sam" (support)',
  ],
])('%s is refused, is recorded, and changes nothing', async (_, machine, more, why) => {
  const before = await trailOf(ID);
  const { exitCode, out } = await run(machine, ...approve, ...more);
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: expect.stringContaining(why) as string });
  await until(async () => (await trailOf(ID)).length === before.length + 1);
  expect((await trailOf(ID)).at(-1)).toMatchObject({
    applied: false,
    outcome: expect.stringContaining(why) as string,
  });
  expect((await run('pia', 'show', ID, '--json')).out).toContain('"step": "supply-details"');
});

test('the refusal of an unsigned decision says who can sign it', async () => {
  const { out } = await run('pia', ...approve, '--by', 'Sam');
  expect(out).toContain(
    '\n  to sign the decision, Sam must run the command on their own machine, where their signing key is (TOKENFERRY_SIGNING_KEY_FILE)\n',
  );
});

test('approve reports that the signing key was not used if --by is another name', async () => {
  const { exitCode, out } = await run('sam', ...approve, '--by', 'Cleo');
  expect(exitCode).toBe(1);
  expect(out).toContain('not signed: the signing key belongs to Sam, but --by is Cleo');
});

test('a decision signed by an approver is applied, and the output names the key', async () => {
  const { exitCode, out } = await run('sam', ...approve);
  expect({ exitCode, out }).toEqual({
    exitCode: 0,
    out: expect.stringContaining('  signed with the key of Sam\n') as string,
  });
  await until(async () => (await trailOf(ID)).at(-1)?.applied === true);
});

test.each<[string, () => { id: string; message: string; change: object }, RegExp]>([
  ['sent to another migration', () => ({ id: OTHER, message: 'approve', change: {} }), /does not match/],
  ['sent for another step', () => ({ id: ID, message: 'approve', change: { step: 'schedule' } }), /does not match/],
  [
    'sent as another message',
    () => ({ id: ID, message: 'pause', change: { decisionId: 'another' } }),
    /does not match/,
  ],
  [
    'sent under another id',
    () => ({ id: ID, message: 'approve', change: { decisionId: 'a third' } }),
    /does not match/,
  ],
])('a copied signature that is %s is refused and recorded', async (_, replayOf, why) => {
  const { signed } = (await trailOf(ID)).find(({ applied }) => applied) ?? {};
  if (!signed) throw new Error('nothing was signed yet');
  const { id, message, change } = replayOf();
  const before = await trailOf(id);
  const decisionId = id === ID ? `replayed-${before.length}` : signed.content['decisionId'];
  const content = { ...signed.content, decisionId, ...change, signature: signed.signature };
  await orchestrator.ferry.temporal.workflow.getHandle(id).signal(message, content);
  await until(async () => (await trailOf(id)).length === before.length + 1);
  expect((await trailOf(id)).at(-1)).toMatchObject({
    applied: false,
    outcome: expect.stringMatching(why) as string,
  });
});

test('a message that is sent twice counts once', async () => {
  const before = await trailOf(ID);
  const { signed } = before.find(({ applied }) => applied) ?? {};
  const again = { ...signed?.content, signature: signed?.signature };
  await orchestrator.ferry.temporal.workflow.getHandle(ID).signal('approve', again);
  expect((await run('sam', 'propose-time', ID, 'now')).exitCode).toBe(0);
  await until(async () => (await trailOf(ID)).length > before.length);
  expect(await trailOf(ID)).toHaveLength(before.length + 1);
});

describe('the exported trail', () => {
  let lines: string[];
  beforeAll(async () => {
    expect((await run('cleo', 'approve', ID, 'schedule', '--as', 'client', '--yes')).exitCode).toBe(0);
    await until(async () => (await trailOf(ID)).filter(({ applied }) => applied).length === 3);
    const { out } = await run('sam', 'audit', ID, '--format', 'jsonl');
    lines = out.trimEnd().split('\n');
  });

  /** Verifies a trail on a machine that can reach neither Temporal nor Postgres. */
  function verify(trail: readonly string[], keys = approvers()) {
    const file = path.join(folder, 'trail.jsonl');
    writeFileSync(file, `${trail.join('\n')}\n`);
    return ferry(['audit', ID, '--verify', file, ...keys], undefined, { TOKENFERRY_HOME: path.join(folder, 'pia') });
  }

  test('can be verified offline with only the public keys', async () => {
    const { exitCode, out, err } = await verify(lines);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    expect(out).toContain(
      `${lines.length - 2} entries: the signature of every applied decision matches the recorded decision`,
    );
    expect(out).toContain('Sam exported and signed the trail on');
  });

  test('can be verified without its last line, but is reported as not signed', async () => {
    const { exitCode, out } = await verify(lines.slice(0, -1));
    expect(exitCode).toBe(0);
    expect(out).toContain('The export itself is not signed');
  });

  test('cannot be verified without keys, with other keys, or with only the key of support', async () => {
    expect((await verify(lines, [])).err).toContain('verifying a trail requires the public keys');
    const evesKey = `support:Sam:${publicKeys.get('eve')}`;
    const { exitCode, out } = await verify(lines, ['--approver', evesKey]);
    expect(exitCode).toBe(1);
    expect(out).toContain('a key that does not belong to an approver');
    const ofSam = await verify(lines, approvers().slice(0, 2));
    expect(ofSam.out).toMatch(/in the name of Cleo \(client\) are signed .*, put them into the command below/);
    expect(ofSam.out).toMatch(/ --approver support:Sam:\S+ --approver client:Cleo:fingerprint\n$/);
    expect(ofSam.out).not.toMatch(/line \d+: the ledger/);
  });

  test('is recognised as the trail of another migration', async () => {
    const file = path.join(folder, 'trail.jsonl');
    writeFileSync(file, `${lines.join('\n')}\n`);
    const { exitCode, out } = await ferry(['audit', OTHER, '--verify', file, ...approvers()], undefined, {});
    expect({ exitCode, out }).toEqual({
      exitCode: 1,
      out: `✗ line ${lines.length}: this is the trail of ${ID}, not of ${OTHER}\n`,
    });
  });

  test.each<[string, (trail: readonly string[]) => string[]]>([
    ['an entry is missing', (trail) => trail.filter((_, index) => index !== 0)],
    ['the last entry is missing', (trail) => trail.filter((_, index) => index !== trail.length - 3)],
    ['the line about the ledger is missing', (trail) => trail.filter((_, index) => index !== trail.length - 2)],
    ['an entry appears twice', (trail) => [trail[0] ?? '', ...trail]],
    ['two entries are swapped', ([first = '', second = '', ...rest]) => [second, first, ...rest]],
    ['an entry is added at the end', (trail) => [...trail, trail[0] ?? '']],
    [
      'a refused decision is marked as applied',
      (trail) => trail.map((line) => line.replace('"applied":false', '"applied":true')),
    ],
    [
      'an applied decision is marked as refused',
      (trail) => trail.map((line) => line.replace('"applied":true', '"applied":false')),
    ],
  ])('fails verification if %s', async (_, change) => {
    expect((await verify(change(lines))).exitCode).toBe(1);
  });

  test('fails verification if a byte is changed', async () => {
    const file = path.join(folder, 'altered.jsonl');
    const whole = Buffer.from(`${lines.join('\n')}\n`);
    const undetected: string[] = [];
    // Tries a change to every 97th byte and to every line feed, one at a time. Leaves out the last line feed, because
    // it has no meaning.
    for (let index = 0; index < whole.length - 1; index += 1) {
      if (index % 97 !== 0 && whole[index] !== 0x0a) continue;
      const altered = Buffer.from(whole);
      altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
      writeFileSync(file, altered);
      const { exitCode } = await ferry(['audit', ID, '--verify', file, ...approvers()], undefined, {});
      if (exitCode === 0) undetected.push(`byte ${index}: ${whole.subarray(index - 20, index + 20).toString()}`);
    }
    expect(undetected).toEqual([]);
    expect(readFileSync(file).equals(whole)).toBe(false);
  });

  /**
   * Changes a field of the applied decisions in the database. Disables the trigger that protects the trail, as an
   * administrator of Postgres can.
   */
  async function alterInDatabase(field: string): Promise<void> {
    await orchestrator.ferry.db.transaction().execute(async (tx) => {
      await sql`set local session_replication_role = replica`.execute(tx);
      await sql`update decisions set content = jsonb_set(content, ${[field]}::text[], '"another"')
        where applied and migration_id = ${ID}`.execute(tx);
    });
  }

  // These tests run last in this block, because the trail stays changed.
  test.each(['by', 'step', 'decisionId'])('fails verification if %s was changed in the database', async (field) => {
    await alterInDatabase(field);
    const { out } = await run('sam', 'audit', ID, '--format', 'jsonl');
    const verified = await verify(out.trimEnd().split('\n'));
    expect(verified.exitCode).toBe(1);
    expect(verified.out).toMatch(/differs from the recorded decision|twice/);
  });
});

describe("a cancellation with Temporal's own tools, which cannot sign it,", () => {
  const handle = () => orchestrator.ferry.temporal.workflow.getHandle(OTHER);

  test('is refused and recorded, and the migration continues', async () => {
    await handle().cancel();
    await until(async () => (await trailOf(OTHER)).at(-1)?.outcome.includes('must be signed') === true);
    expect((await run('pia', 'show', OTHER, '--json')).out).toContain('"step": "supply-details"');
  });

  test('does not prevent signed decisions from completing the migration', async () => {
    const credentials = path.join(folder, 'credentials.csv');
    writeFileSync(
      credentials,
      'reference,accessToken,refreshToken,realmId\nC-1,any,sbx-ok-3.signed,7100000000000002\n',
    );
    const decisions: readonly [string, ...string[]][] = [
      ['sam', 'approve', OTHER, 'supply-details'],
      ['sam', 'propose-time', OTHER, 'now'],
      ['sam', 'approve', OTHER, 'schedule', '--yes'],
      ['cleo', 'approve', OTHER, 'schedule', '--as', 'client', '--yes'],
      ['cleo', 'approve', OTHER, 'update-application', '--as', 'client'],
      ['sam', 'approve', OTHER, 'update-application'],
      ['cleo', 'confirm-sync-disabled', OTHER, '--all', '--as', 'client'],
      ['cleo', 'credentials', OTHER, credentials, '--obtained-at', 'now', '--as', 'client'],
      ['pia', 'watch', OTHER, '--until-decision'],
      ['sam', 'approve', OTHER, 'migrate-first-company', '--yes'],
      ['pia', 'watch', OTHER, '--until-decision'],
      ['sam', 'approve', OTHER, 'complete-migration', '--yes'],
      ['cleo', 'approve', OTHER, 'complete-migration', '--as', 'client', '--yes'],
    ];
    for (const [machine, ...command] of decisions) {
      const yes = command[0] === 'approve' ? ['--yes'] : [];
      const { exitCode, out, err } = await run(machine, ...command, ...yes);
      expect({ command, exitCode, out, err }).toMatchObject({ exitCode: 0 });
    }
    await handle().result();
    expect((await handle().describe()).status.name).toBe('COMPLETED');
  });
});
