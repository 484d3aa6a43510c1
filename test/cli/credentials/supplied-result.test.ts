/** Tests the result of supplying credentials. */
import { suppliedResult } from '../../../cli/credentials/supplied-result';
import type { CheckedFile } from '../../../cli/credentials/credential-file';
import { FindingList } from '../../../cli/manifest';
import { Output } from '../../../cli/terminal/output';
import { emptySupplyResult } from '../../../store';
import { capturedStream } from '../captured-terminal';

const FILE = { findings: new FindingList() } as unknown as CheckedFile;
const KEPT = { shredded: false, failed: false, print: () => undefined };
const UNREAD = 'the decision was sent, but its outcome cannot be read on this machine';

test.each([
  [['C-1'], 'The stored credential is used'],
  [['C-1', 'C-2'], 'The stored credentials are used'],
])('if not all credentials are stored, those that are wait for the decision: %j', (stored, used) => {
  const decision = { outcome: 'recorded', decisionId: 'd', text: UNREAD, signedBy: null } as const;
  const supplied = { ...emptySupplyResult(), stored, unknown: ['X-1'], decision, advice: null, isPartlyUsed: false };
  const stdout = capturedStream();
  suppliedResult('acme.xero', FILE, supplied, KEPT, []).print(new Output({ stdout, stderr: capturedStream() }, false));
  expect(stdout.text).toContain(`\n  ${used} once the decision takes effect; ${UNREAD}\n`);
});

test('all warnings about a file are printed, because supplying it again would not be the way to list them', () => {
  const findings = new FindingList();
  for (const column of [4, 5, 6, 7, 8, 9, 10])
    findings.add({
      ...{ severity: 'warning', code: 'unknown-column', file: 'credentials.csv', line: 1, column },
      ...{ message: `the column "extra ${column}" is not used`, advice: 'remove the column' },
    });
  const decision = { outcome: 'applied', decisionId: 'd', text: 'done', signedBy: null } as const;
  const supplied = { ...emptySupplyResult(), stored: ['C-1'], decision, advice: null, isPartlyUsed: false };
  const stdout = capturedStream();
  const file = { findings } as unknown as CheckedFile;
  suppliedResult('acme.xero', file, supplied, KEPT, []).print(new Output({ stdout, stderr: capturedStream() }, false));
  expect(stdout.text.match(/the column "extra \d+" is not used/g)).toHaveLength(7);
  expect(stdout.text).not.toMatch(/more like|add --json/);
});
