import { Connection } from '@temporalio/client';
import { sharedTemporal } from '../support/servers';

test('the dev server has the search attributes of migrations', async () => {
  const connection = await Connection.connect({ address: await sharedTemporal() });
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
  expect(Object.keys(customAttributes ?? {})).toEqual(
    expect.arrayContaining([
      'FerryStep',
      'FerryState',
      'FerryWaitingFor',
      'FerryCompaniesTotal',
      'FerryCompaniesDone',
      'FerryCompaniesFailed',
    ]),
  );
  await connection.close();
});
