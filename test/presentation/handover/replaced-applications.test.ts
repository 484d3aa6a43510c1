/** Tests that the report does not contradict itself if the application of moved companies was replaced. */
import { reportHead } from '../../../presentation/handover/markdown-report';
import { outOfDateText } from '../../../presentation/handover/report-facts';
import { sampleReport } from './sample-report';

const moved = (clientId: string, ...references: string[]) => ({
  ...{ application: { clientId, environment: 'production' }, companies: references.length, references },
});

test('no connection depends on an application whose companies must reconnect', () => {
  const [old, current] = [moved('old-app', 'C-1'), moved('new-app', 'C-2', 'C-3')];
  const applications = { moved: [old, current], replaced: [old], registered: current.application };
  const report = reportHead({ ...sampleReport(60).head, applications });
  expect(report).toContain(
    '1 company (C-1) was connected with this application, but must reconnect with the application that is registered now, so support does not need the new secret.',
  );
  expect(report).toContain('The connections of 2 companies (C-2, C-3) depend on it, so give support the new secret');
  expect(report).toContain('**Rotate the secrets of your applications**: the section about credentials says what');
});

test('the secret of the only application is needed only if it is registered again', () => {
  const old = moved('old-app', 'C-1');
  const applications = { moved: [old], replaced: [old], registered: null };
  const report = reportHead({ ...sampleReport(60).head, decisions: [], applications });
  expect(report).toContain(
    'The connections of 1 company (C-1) need it only if the application is registered again. If you choose that instead of reconnecting, give support the new secret.',
  );
  expect(report).toContain('**Rotate the secret of your application**: the section about credentials says what');
  expect(report).not.toContain('before the old secret expires');
});

test.each([null, 'completed'] as const)('the data of these companies goes out of date (ending: %s)', (ending) => {
  const old = moved('old-app', 'C-1');
  const applications = { moved: [old], replaced: [old], registered: null };
  expect(outOfDateText({ ...sampleReport(60).head, ending, applications })).toContain(
    'The data of 1 company (C-1) goes out of date',
  );
});
