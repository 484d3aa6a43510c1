import { printFirstCompany } from '../../../cli/shared/results';
import { Output } from '../../../cli/terminal/output';
import { capturedStream } from '../captured-terminal';

type Shown = Parameters<typeof printFirstCompany>[1];

function printed(state: 'open' | 'done', passed: boolean): string {
  const stdout = capturedStream();
  const evidence: Shown['firstCompany'] = {
    ...{ row: 1, reference: 'K-7', stage: passed ? 'verified' : 'failed', failure: null },
    evidence: [
      { code: 'authorized', label: 'authorized', passed: true, detail: 'yes', correlationId: 'c-1' },
      { code: 'organization', label: 'organization', passed, detail: '4711', correlationId: 'c-2' },
    ],
  };
  const step: Shown['steps'][number] = {
    ...{ step: 'migrate-first-company', state, openedAt: null, endedAt: null, approvals: [] },
  };
  printFirstCompany(new Output({ stdout, stderr: stdout, env: {} } as never, false, false), {
    firstCompany: evidence,
    steps: [step],
  });
  return stdout.text;
}

test('the evidence of the first company is one line once it is approved, unless a check failed', () => {
  expect(printed('open', true)).toContain('organization: 4711  (correlation id c-2)');
  expect(printed('done', true)).toBe('\nFirst company K-7: approved, 2 checks passed (to see them: --json)\n');
  expect(printed('done', false)).toContain('organization: 4711  (correlation id c-2)');
});

test('the result of the first company is shown in the words of the other views', () => {
  expect(printed('open', true)).toContain('First company K-7: moved and verified\n');
  expect(printed('open', false)).toContain('First company K-7: not moved\n');
});
