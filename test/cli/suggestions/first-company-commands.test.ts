/** Tests the advice about rejections: how to end the migration instead, and how to try another first company. */
import type { MigrationClient } from '../../../client';
import { choicesAfterRejection, insteadText } from '../../../cli/suggestions/first-company-commands';
import { assertValid } from '../captured-terminal';

const ID = 'acme.xero';

test.each([
  ['support', `ferry cancel ${ID} --reason "why"`],
  ['client', `ferry cancel ${ID} --reason "why" --as client --by 'Cleo Park'`],
] as const)('%s ends the migration under its own name', async (as, command) => {
  expect(insteadText(ID, { next: 'abandon', as, by: 'Cleo Park' })).toBe(`to end the migration, run: ${command}`);
  await assertValid(command);
});

test('a suggested command keeps the options that the person gave', async () => {
  const kept = { reason: 'too small', validUntil: new Date('2026-12-01T09:00:00Z') };
  const support = { ...kept, as: 'support', by: 'Sam Bo', givenBy: 'Sam Bo' } as const;
  const ofSupport = "--reason 'too small' --by 'Sam Bo' --valid-until 2026-12-01T09:00:00.000Z";
  const client = { ...kept, as: 'client', by: 'Cleo', givenBy: 'Cleo' } as const;
  const commands = [
    [insteadText(ID, { next: 'abandon', ...support }), `ferry cancel ${ID} ${ofSupport}`],
    [insteadText(ID, { company: 'C-2', ...support }), `ferry first-company ${ID} C-2 ${ofSupport}`],
    [insteadText(ID, { company: '-2', ...support }), `ferry first-company ${ID} ${ofSupport} -- -2`],
    [
      insteadText(ID, { next: 'abandon', ...client }),
      `ferry cancel ${ID} --reason 'too small' --valid-until 2026-12-01T09:00:00.000Z --as client --by Cleo`,
    ],
    // Support chooses the company, under its own name.
    [insteadText(ID, { company: 'C-2', ...client }), `ferry first-company ${ID} C-2 --reason 'too small'`],
  ] as const;
  for (const [text, command] of commands) {
    expect(text.slice(text.indexOf('ferry '))).toBe(command);
    await assertValid(command);
  }
});

test('without the ledger, the rejection that names another company is a complete command', async () => {
  const rejection = `ferry reject ${ID} migrate-first-company --reason 'too small'`;
  const { another } = await choicesAfterRejection({} as MigrationClient, ID, 'C-1', rejection);
  const command = `${rejection} --company "reference of the company"`;
  expect(another).toBe(`to try another company: ${command}`);
  await assertValid(command);
});
