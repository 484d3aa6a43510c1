/** Tests what the evidence says about a company's organization. */
import { organizationEvidence } from '../../../activities/companies/evidence';
import type { Connection } from '../../../company-data-client';
import type { DueCompany } from '../../../store';

const due = { name: 'Acme Ltd', organization: '123' } as DueCompany;
const evidenceOf = (connectionInfo: Record<string, string>) =>
  organizationEvidence(due, { connectionInfo } as unknown as Connection);

test.each([
  [
    { organizationId: '123', organizationName: 'Acme Books' },
    true,
    '123 (Acme Books); the manifest calls the company Acme Ltd',
  ],
  [{ organizationId: '124' }, false, '124; the manifest calls the company Acme Ltd'],
  [
    { organizationName: 'Acme Books' },
    true,
    "the platform reported no organization id, so compare the names yourself: the platform's is Acme Books, the manifest's is Acme Ltd",
  ],
  [{}, true, 'the platform reported no organization, so it was not compared; the manifest calls the company Acme Ltd'],
])('a connection with %j', (connectionInfo, passed, detail) => {
  expect(evidenceOf(connectionInfo)).toMatchObject({ passed, detail });
});
