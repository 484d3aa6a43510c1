import { explanationOf, printFirstCompany } from '../../../cli/shared/results';
import type { FailureKind } from '../../../domain/companies/failures';
import { Output } from '../../../cli/terminal/output';
import { capturedStream } from '../captured-terminal';

type Shown = Parameters<typeof printFirstCompany>[1];

interface Result {
  readonly state?: 'open' | 'done';
  /** True if the last check has passed. */
  readonly passed: boolean;
  /** Default: `verified` if the last check has passed, otherwise `failed`. */
  readonly stage?: 'verified' | 'failed';
  readonly failure?: FailureKind;
  /** Explains why the company was not moved. */
  readonly detail?: string;
  /** True with `--evidence`. */
  readonly inFull?: boolean;
}

/** Returns the output about a first company with three checks. */
function printed({ state = 'open', passed, stage, failure, detail, inFull = false }: Result): string {
  const stdout = capturedStream();
  const firstCompany: Shown['firstCompany'] = {
    ...{ row: 1, reference: 'K-7', stage: stage ?? (passed ? 'verified' : 'failed'), failure: failure ?? null },
    evidence: [
      { code: 'authorized', label: 'authorized', passed: true, detail: 'yes', correlationId: 'c-1' },
      { code: 'synced', label: 'synced', passed: true, detail: 'in time', durationMs: 40 },
      { code: 'organization', label: 'organization', passed, detail: '4711', correlationId: 'c-2' },
      ...(detail === undefined ? [] : [{ code: 'moved', label: 'moved', passed: false, detail } as const]),
    ],
  };
  const step: Shown['steps'][number] = {
    ...{ step: 'migrate-first-company', state, openedAt: null, endedAt: null, approvals: [] },
  };
  const output = new Output({ stdout, stderr: stdout, env: {} } as never, false, false);
  printFirstCompany(output, { firstCompany, steps: [step] }, { inFull, how: '--evidence' });
  return stdout.text;
}

test('passed checks are only counted, but the organization is printed until the approval', () => {
  expect(printed({ passed: true })).toBe(
    'First company K-7: moved, all 3 checks passed (--evidence lists them)\n' +
      '  ✓ organization: 4711  (correlation id c-2)\n',
  );
  expect(printed({ passed: true, state: 'done' })).toBe(
    'First company K-7: approved, all 3 checks passed (--evidence lists them)\n',
  );
});

test('a failed check is always printed', () => {
  expect(printed({ passed: false })).toBe(
    'First company K-7: not moved, 2 other checks passed (--evidence lists them)\n' +
      '  ✗ organization: 4711  (correlation id c-2)\n',
  );
});

test('a first company that failed without a failed check has not passed all checks', () => {
  expect(printed({ passed: true, stage: 'failed' })).toBe(
    'First company K-7: not moved, 3 checks passed (--evidence lists them)\n',
  );
});

test.each([
  ['the authorization no longer works', 'must reconnect'],
  ['left out: sold; before that: the authorization no longer works', 'left out'],
])('a first company with the explanation "%s" has the state "%s"', (detail, state) => {
  expect(printed({ passed: false, failure: 'reauthorization-required', detail })).toContain(`K-7: ${state}, 2 other`);
});

test('--evidence lists every check of the first company', () => {
  expect(printed({ passed: true, state: 'done', inFull: true })).toBe(
    [
      'First company K-7: approved',
      '  ✓ authorized: yes  (correlation id c-1)',
      '  ✓ synced: in time  (40 ms)',
      '  ✓ organization: 4711  (correlation id c-2)\n',
    ].join('\n'),
  );
});

test('the explanation of a company that was left out names the reason and the failure before that', () => {
  const failed = {
    state: 'failed',
    failure: 'refused',
    failureText: 'not moved: no access',
    leftOutReason: null,
  } as const;
  expect(explanationOf(failed)).toBe('no access');
  const skipped = { ...failed, state: 'skipped', leftOutReason: 'sold' } as const;
  expect(explanationOf(skipped)).toBe('sold; before that: not moved: no access');
  expect(explanationOf({ ...skipped, failure: null, failureText: null })).toBe('sold');
  expect(explanationOf({ ...skipped, leftOutReason: null })).toBe('not moved: no access');
});
