/** Tests who must act while support has to confirm keys of invited people. */
import { withKeysToConfirm, withTasksOfSupport } from '../../../domain/progress/meanwhile';

test('keys to confirm are a task of support, beside the tasks for companies', () => {
  expect(withKeysToConfirm(null, [])).toBeNull();
  expect(withKeysToConfirm(null, ['Cleo'])).toEqual({ roles: ['support'], what: 'confirm the key of Cleo' });
  expect(withKeysToConfirm(null, ['Cleo', 'Dana'])?.what).toBe('confirm the keys of Cleo and Dana');
  // One person can have keys on two devices.
  expect(withKeysToConfirm(null, ['Cleo', 'Cleo'])?.what).toBe('confirm the keys of Cleo');
  expect(withKeysToConfirm({ roles: ['client'], what: 'supply credentials for 2 companies' }, ['Cleo'])).toEqual({
    roles: ['client', 'support'],
    what: 'the client must supply credentials for 2 companies; support must confirm the key of Cleo',
  });
  const both = { roles: ['client', 'support'], what: 'the client must do this; support must do that' } as const;
  expect(withKeysToConfirm(both, ['Cleo'])).toEqual({ ...both, what: `${both.what}; confirm the key of Cleo` });
});

test.each([
  ['nobody', 'support'],
  ['', 'support'],
  ['support', 'support'],
  ['client', 'client and support'],
  ['client or support', 'client or support'],
])('if keys have to be confirmed, %j becomes %j', (roles, expected) => {
  expect(withTasksOfSupport(roles, { ledgerBehind: false, hasKeysToConfirm: true })).toBe(expected);
  expect(withTasksOfSupport(roles, { ledgerBehind: false, hasKeysToConfirm: false })).toBe(roles);
  expect(withTasksOfSupport(roles, { ledgerBehind: true, hasKeysToConfirm: true })).toBe('support');
});
