/** Tests the advice about rejections: how to end the migration instead, and how to try another first company. */
import type { MigrationClient } from '../../../client';
import { choicesAfterRejection, insteadText } from '../../../cli/shared/first-company-commands';
import { assertValid } from '../captured-terminal';

const ID = 'acme.xero';

test.each([
  ['support', `ferry cancel ${ID} --reason "why"`],
  ['client', `ferry cancel ${ID} --reason "why" --as client --by 'Cleo Park'`],
] as const)('%s ends the migration under its own name', async (as, command) => {
  expect(insteadText(ID, { next: 'abandon', as, by: 'Cleo Park' })).toBe(`to end the migration, run: ${command}`);
  await assertValid(command);
});

test('without the ledger, the rejection that names another company is a complete command', async () => {
  const rejection = `ferry reject ${ID} migrate-first-company --reason 'too small'`;
  const { another } = await choicesAfterRejection({} as MigrationClient, ID, 'C-1', rejection);
  const command = `${rejection} --company "reference of the company"`;
  expect(another).toBe(`to try another company: ${command}`);
  await assertValid(command);
});
