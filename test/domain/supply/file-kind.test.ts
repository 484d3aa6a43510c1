/** Tests the advice about a sealed file, which both the client and support read. */
import { notTextFinding } from '../../../domain/supply/file-kind';

const headOf = (content: string, migration = 'acme.xero'): Buffer =>
  Buffer.from(`{"tokenferry":"sealed-${content}/1","migration":"${migration}","keyFingerprint":"f"}\n`);

const advised = (support: string): string =>
  `choose the original file, or send this sealed file to support, who stores it with: ferry ${support}; if you have signed in with ferry --portal, you can also run: ferry --portal '<link>' ${support}`;

test.each([
  ['credentials', "credentials acme.xero 'my file.sealed'"],
  ['application', "application acme.xero --sealed 'my file.sealed'"],
])('a sealed file with the content %s names the command of support and that of the client', (content, command) => {
  for (const migrationId of [undefined, 'acme.xero'])
    expect(notTextFinding('my file.sealed', headOf(content), migrationId)).toMatchObject({
      message: 'this file has been sealed already',
      advice: advised(command),
    });
});

test('a file that was sealed for another migration is told from a file for this migration', () => {
  expect(notTextFinding('a.sealed', headOf('credentials'), 'kite.xero')).toMatchObject({
    message: 'this file has been sealed already, for acme.xero, not for kite.xero',
    advice: 'choose the original file for kite.xero; this sealed file can be used only for acme.xero',
  });
});

test('a sealed file with a damaged migration id is not quoted in a command', () => {
  const head = headOf('credentials', '$(reboot)');
  expect(notTextFinding('a.sealed', head, 'kite.xero')?.advice).toBe(advised('credentials kite.xero a.sealed'));
  expect(notTextFinding('a.sealed', head)?.advice).toBe(advised("credentials '<migration>' a.sealed"));
});
