/** Tests the advice about a sealed file, which both the client and support read. */
import { notTextFinding } from '../../../domain/supply/file-kind';

test.each([
  ['credentials', "credentials '<migration>' '<file>'", "credentials '<file>'"],
  ['application', "application '<migration>' --sealed '<file>'", "application --sealed '<file>'"],
])('a sealed file with the content %s names the command of support and that of the client', (content, support, own) => {
  const head = Buffer.from(`{"tokenferry":"sealed-${content}/1","migration":"m"}`);
  expect(notTextFinding('a.sealed', head)?.advice).toBe(
    `choose the original file, or send this sealed file to support, who stores it with: ferry ${support}; if you have signed in with ferry --portal, you can also run: ferry --portal '<link>' ${own}`,
  );
});
