import { createHash } from 'node:crypto';
import {
  applicationDigest,
  credentialsDigest,
  hashOfBox,
  type HashedCredential,
} from '../../../domain/supply/sealed-digest';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const credential = (reference: string, changes: Partial<HashedCredential> = {}): HashedCredential => ({
  ...{ reference, obtainedAt: '2026-11-20T10:00:00.000Z', boxHash: hashOfBox(Buffer.from(`box of ${reference}`)) },
  ...changes,
});

test('the digest of credentials is the SHA-256 of their list, in the order of the references', () => {
  const list = ['tokenferry sealed credentials 1'] as unknown[];
  for (const reference of ['A', 'a', 'ä'])
    list.push([reference, '2026-11-20T10:00:00.000Z', hash(`box of ${reference}`)]);
  const expected = hash(JSON.stringify(list));
  expect(credentialsDigest([credential('ä'), credential('A'), credential('a')])).toBe(expected);
  expect(credentialsDigest([credential('a'), credential('ä'), credential('A')])).toBe(expected);
});

test('the digest of credentials changes with every box, time and reference', () => {
  const given = [credential('A'), credential('B')];
  const digests = [
    given,
    [credential('A')],
    [...given, credential('C')],
    [credential('A'), credential('B', { boxHash: hash('another box') })],
    [credential('A'), credential('B', { obtainedAt: '2026-11-20T10:00:00.001Z' })],
    [credential('A'), credential('X', { boxHash: credential('B').boxHash })],
    [],
  ].map(credentialsDigest);
  expect(new Set(digests).size).toBe(7);
});

test('the digest of an application changes with its id, its environment and its box', () => {
  const given = { clientId: 'id', environment: 'production', boxHash: hash('box') };
  const digests = [given, { ...given, clientId: 'other' }, { ...given, environment: 'sandbox' }].map(applicationDigest);
  digests.push(applicationDigest({ ...given, boxHash: hash('another box') }));
  expect(digests[0]).toBe(hash(JSON.stringify(['tokenferry sealed application 1', 'id', 'production', hash('box')])));
  expect(new Set(digests).size).toBe(4);
});
