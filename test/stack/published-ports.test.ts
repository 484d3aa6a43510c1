/** Tests what a stack says when a page to which links were sent has another port than before. */
import { rmSync } from 'node:fs';
import { createTemporaryFolder } from '../../stack/folders';
import { keepPublishedPorts } from '../../stack/published-ports';

let folder: string;
beforeEach(() => {
  folder = createTemporaryFolder();
});
afterEach(() => rmSync(folder, { recursive: true }));

test('says that links no longer work, and for the service also that the callback URLs have changed', () => {
  const at = (port: number): string => `http://127.0.0.1:${port}`;
  expect(keepPublishedPorts(folder, { clientUi: at(1), portal: at(2), service: at(3) })).toEqual([]);
  const moved = (name: string, port: number): string =>
    `${name} now has the address ${at(port + 10)}, because port ${port} is in use. Links with the old port no longer work; send new links.`;
  expect(keepPublishedPorts(folder, { clientUi: at(1), portal: at(12), service: at(13) })).toEqual([
    moved('The portal', 2),
    `${moved('The Company Data Service', 3)} The callback URLs contain the new port too; have each client add its new callback URL to its application.`,
  ]);
});
