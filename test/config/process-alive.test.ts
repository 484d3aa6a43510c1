/** Tests whether a process counts as alive, which decides whether the stack that a stack file describes is running. */
import { isAlive } from '../../config';

test.each([
  ['ESRCH', false],
  ['EPERM', true],
])('a process is alive if it belongs to another user, but not if it does not exist (%s)', (code, expected) => {
  expect(isAlive(process.pid)).toBe(true);
  const kill = jest.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error(code), { code });
  });
  try {
    expect(isAlive(process.pid)).toBe(expected);
  } finally {
    kill.mockRestore();
  }
});
