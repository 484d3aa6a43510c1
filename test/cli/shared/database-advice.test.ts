/** Tests the advice about connections to the database that fail. */
import { CommandFailed, withAdvice } from '../../../cli/shared/errors';

const systemError = (message: string): Error => {
  const [syscall, code] = message.split(' ');
  return Object.assign(new Error(message), { code, syscall });
};

const REFUSED = systemError('connect ECONNREFUSED 127.0.0.1:5432');

test.each(
  [
    REFUSED,
    systemError('connect ETIMEDOUT 10.0.0.1:5432'),
    systemError('getaddrinfo ENOTFOUND ledger.example'),
    systemError('read ECONNRESET'),
    systemError('write EPIPE'),
    // The socket of Postgres is missing, not a file that the user has named.
    systemError('connect ENOENT /run/.s.PGSQL.5432'),
  ].map((error) => [error.message, error] as const),
)('the error %s of a database is reported with advice', (_, error) => {
  expect(withAdvice(error, {})).toMatchObject({
    message: `database error: ${error.message}`,
    advice:
      'check the database with: ferry doctor; if this command was storing a file, supply the whole file again, because it might have been stored only in part',
  });
});

test('if no address of the database answers, the first reason is reported', () => {
  const error = withAdvice(new AggregateError([REFUSED, systemError('connect ECONNREFUSED ::1:5432')], ''), {});
  expect(error).toBeInstanceOf(CommandFailed);
  expect(error).toMatchObject({ message: 'database error: connect ECONNREFUSED 127.0.0.1:5432' });
});

test('an error of a file, a pipe or a time limit is not an error of the database', () => {
  expect(withAdvice(systemError('open ENOENT'), {})).toMatchObject({
    message: 'open ENOENT',
    advice: 'check the path',
  });
  // A pipe that is named like a file. main.ts handles the errors of standard output.
  const pipe = Object.assign(new Error('EPIPE: broken pipe, write'), { code: 'EPIPE', syscall: 'write' });
  expect(withAdvice(pipe, {})).toBe(pipe);
  const late = new Error('The operation was aborted due to timeout');
  expect(withAdvice(late, {})).toBe(late);
});
