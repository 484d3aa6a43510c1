import { inspect } from 'node:util';
import pino from 'pino';
import { Secret } from '../../security';

const MARKER = 'marker-f3a9c1';

/** Returns the JSON line that pino writes for the value. */
function logged(value: unknown): string {
  const lines: string[] = [];
  pino({}, { write: (line: string) => lines.push(line) }).info(value, 'a message');
  return lines.join('');
}

describe.each([
  ['text', new Secret(MARKER)],
  ['fields', new Secret({ accessToken: MARKER })],
  ['bytes', new Secret(Buffer.from(MARKER))],
])('a secret of %s', (_kind, secret) => {
  test.each<[string, () => string]>([
    ['a template', () => `${String(secret)}`],
    ['string concatenation', () => '' + (secret as unknown as string)],
    ['JSON', () => JSON.stringify({ deep: [{ secret }] })],
    ['util.inspect', () => inspect({ deep: [secret] }, { depth: 10 })],
    ['util.inspect with hidden properties', () => inspect(secret, { showHidden: true, depth: 10 })],
    ['a log line', () => logged({ secret, deep: { secret } })],
    ["an error's cause", () => inspect(new Error('failed', { cause: secret }))],
    ["a logged error's properties", () => logged({ err: Object.assign(new Error('failed'), { secret }) })],
  ])('prints as [secret] in %s', (_where, print) => {
    const printed = print();
    expect(printed).toContain('[secret]');
    expect(printed).not.toContain(MARKER);
    expect(printed).not.toContain(String(Buffer.from(MARKER)[0]) + ',');
  });

  test.each<[string, () => unknown]>([
    ['a spread copy', () => ({ ...secret })],
    ['a list of its properties', () => Reflect.ownKeys(secret)],
    ['a structured clone', () => structuredClone(secret)],
    ['Object.entries', () => Object.entries(secret)],
  ])('is absent from %s', (_how, look) => {
    expect(JSON.stringify(look())).toMatch(/^(\{\}|\[\])$/);
  });
});

test('reveal() returns the value', () => {
  expect(new Secret({ accessToken: MARKER }).reveal()).toEqual({ accessToken: MARKER });
});
