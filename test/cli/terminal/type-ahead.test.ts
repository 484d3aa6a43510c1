/** Tests that input from before a question does not answer it, with `ferry` in a pseudo-terminal. */
import { KEY, startTerminalSession, type TerminalSession } from './pseudo-terminal';

const QUESTION = 'Renew the vault of kite.xero? (y/N)';

let session: TerminalSession;
afterEach(() => session.close());

test.each([
  ['an answer', `y${KEY.enter}`],
  ['an answer without Enter', 'y'],
  ['a repeated answer', `y${KEY.enter}y${KEY.enter}`],
])('%s that was typed before the question is discarded', async (_, early) => {
  session = startTerminalSession(['vault', 'renew', 'kite.xero'], {});
  session.type(early);
  await session.waitFor(QUESTION);
  session.type(KEY.enter);
  await session.waitFor('the vault was not renewed');
  expect(await session.ended).toBe(1);
});

test('an answer that is typed after the question is accepted', async () => {
  session = startTerminalSession(['vault', 'renew', 'kite.xero'], {});
  await session.waitFor(QUESTION);
  session.type(`y${KEY.enter}`);
  await session.waitFor('DATABASE_URL');
  expect(session.text()).not.toContain('the vault was not renewed');
});
