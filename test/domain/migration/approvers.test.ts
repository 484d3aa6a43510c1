import { signingText } from '../../../domain/migration/approvers';

test('three people who can sign decisions are a list of alternatives with commas', () => {
  const approvers = [
    { role: 'support', by: 'Sam', publicKey: 'a' },
    { role: 'client', by: 'Cleo', publicKey: 'b' },
    { role: 'client', by: 'Dana', publicKey: 'c' },
  ] as const;
  expect(signingText({ mustSign: ['client', 'support'], approvers })).toBe(
    'Decisions must be signed by Cleo (client), Dana (client), or Sam (support)',
  );
});
