/** Tests which texts are refused as a client secret. */
import fc from 'fast-check';
import { clientSecretProblem } from '../../../domain/supply/client-secret';

test.each([
  ['an empty text', '', 'is empty'],
  ['two lines', 'K-1,at-1\nK-2,at-2', 'more than one line'],
  ['two lines that are separated by a carriage return', 'first\rsecond', 'more than one line'],
  ['a CSV file', 'reference;Access Token;realmId\nK-1;at-1;1', 'column names'],
  ['a CSV file whose line breaks were lost', '"reference","refresh_token","realmId"K-1,at-1,1', 'column names'],
  ['only a header', 'reference,accessToken', 'column names'],
  ['a JSON list', '[{"reference":"K-1"}]', 'JSON'],
  ['a JSON object', '{ "clientSecret": "x" }', 'JSON'],
  ['a sealed file', '{"tokenferry":"sealed-credentials/1"}\n{"reference":"K-1"}', 'JSON'],
  ['a text with characters that could not be decoded', 's\0e\0c', 'not text'],
  ['a long text', 'x'.repeat(1_001), 'longer than 1,000 characters'],
])('clientSecretProblem refuses %s', (_, text, problem) => {
  expect(clientSecretProblem(text)).toContain(problem);
});

test('clientSecretProblem accepts single lines of up to 1,000 characters', () => {
  const characters = fc.constantFrom(...'abcXYZ0189-_.~+/=,;!{}[]'.split(''));
  fc.assert(
    fc.property(fc.string({ unit: characters, minLength: 1, maxLength: 1_000 }), (text) => {
      const secret = `s${text.slice(1)}`;
      expect(clientSecretProblem(secret)).toBeNull();
    }),
  );
  expect(clientSecretProblem('123456')).toBeNull();
  expect(clientSecretProblem('x'.repeat(1_000))).toBeNull();
});
