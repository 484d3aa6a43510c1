import { randomBytes } from 'node:crypto';
import { KeyInvalid, parseMasterKeys, parsePayloadKeys, Secret } from '../../security';

const [OLD, NEW] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const parsed = (text: string) => parseMasterKeys(new Secret(text));

test.each([
  ['one key', `${NEW}\n`, [NEW]],
  ['several lines with Windows line endings', `${NEW}\r\n${OLD}\r\n`, [NEW, OLD]],
  ['keys separated by commas', `${NEW},${OLD}`, [NEW, OLD]],
])('parses %s, newest first', (_form, content, expected) => {
  const { newest, byId } = parsed(content);
  expect([...byId.values()].map(({ key }) => key.reveal().toString('base64'))).toEqual(expected);
  expect(newest.key.reveal().toString('base64')).toBe(expected[0]);
});

test('derives the same id for a key at any position, and another id for another purpose', () => {
  expect([...parsed(`${NEW},${OLD}`).byId.keys()]).toEqual([parsed(NEW).newest.id, parsed(OLD).newest.id]);
  expect(parsePayloadKeys(new Secret(NEW)).newest.id).not.toBe(parsed(NEW).newest.id);
});

test.each([
  ['white space without a key', ' \n'],
  ['a key that is too short', randomBytes(31).toString('base64')],
  ['a key that is too long', randomBytes(33).toString('base64')],
  ['a key that is not base64', `${OLD.slice(0, -4)}-!!!`],
  ['an invalid second key', `${OLD}\nmarker-short`],
])('rejects %s without quoting it, and says how to create a key', (_form, content) => {
  const parse = () => parsed(content);
  expect(parse).toThrow(KeyInvalid);
  expect(parse).toThrow(/openssl rand -base64 32/);
  expect(parse).not.toThrow(/marker/);
});
