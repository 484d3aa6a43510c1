/** Tests what the report says about a company whose end customer has connected the wrong organization. */
import { companyRecord, type ReportedCompany } from '../../../presentation/handover/company-sections';
import { COMPANY, NOW, rowsOf } from './reported-company';

test('a company is shown with its link if the service holds the connection of another organization', () => {
  const failed = { state: 'failed', failure: 'wrong-organization', failureText: 'why', movedAt: null } as const;
  const company: ReportedCompany = { ...COMPANY, ...failed };
  const record = (changes: Partial<ReportedCompany>) =>
    companyRecord({ ...company, ...changes }, { stage: 'ended', route: 'managed', now: NOW });
  const checked =
    'to connect the right organization. Then ask support to check it, because reconnections are not checked after the end of the migration';
  expect(record({})).toMatchObject({
    'what to do': `send its end customer the link again, ${checked}`,
    'link for the end customer': 'https://link.example/1',
  });
  expect(rowsOf(company, true)['Not moved, and what to do']).toMatch(
    /\| send its end customer the link again, .* \| https:\/\/link\.example\/1 \| never \|$/,
  );
  expect(record({ linkUrl: null })['what to do']).toBe(
    `ask support for a link, and send it to its end customer, ${checked}`,
  );
  // The service has refused the credential, and so holds no connection.
  expect(record({ crossedAt: null })).toMatchObject({
    'what to do': 'correct the problem, then move the company in a new migration',
    'link for the end customer': '',
  });
});
