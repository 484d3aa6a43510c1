/**
 * The ports of the pages to which people are sent links: the Temporal UI for clients, the portal, and the service with
 * its pages for reconnecting and its callback URL. A stack keeps these ports in its data folder and tries them first
 * when it starts again, because a link that was sent contains the port.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { writePrivately } from './secrets';

const port = z.int().min(1).max(65_535);
const publishedPorts = z.object({ clientUi: port.optional(), portal: port.optional(), service: port.optional() });

export type PublishedPorts = Readonly<z.infer<typeof publishedPorts>>;

const NAMES = {
  clientUi: 'The Temporal UI for clients',
  portal: 'The portal',
  service: 'The Company Data Service',
} as const satisfies Record<keyof PublishedPorts, string>;

/** Added to the warning about the service's new port, because the callback URLs begin with the service's address. */
const CALLBACK_URLS =
  ' The callback URLs contain the new port too; have each client add its new callback URL to its application.';

const fileIn = (dataFolder: string): string => path.join(dataFolder, 'published-ports.json');

/** Returns the ports that the data folder's stack had last; empty if it has never run, or if the file is invalid. */
export function readPublishedPorts(dataFolder: string): PublishedPorts {
  try {
    return publishedPorts.parse(JSON.parse(readFileSync(fileIn(dataFolder), 'utf8')));
  } catch {
    return {};
  }
}

/**
 * Stores the ports for the next start. A part that is not running keeps its port.
 *
 * @param urls the addresses of the parts that are running
 * @returns a warning for each part whose port has changed, because links with the earlier port no longer work
 */
export function keepPublishedPorts(
  dataFolder: string,
  urls: Readonly<Partial<Record<keyof PublishedPorts, string | undefined>>>,
): readonly string[] {
  const before = readPublishedPorts(dataFolder);
  const now: { -readonly [Part in keyof PublishedPorts]: PublishedPorts[Part] } = { ...before };
  const moved: string[] = [];
  for (const part of ['clientUi', 'portal', 'service'] as const) {
    const url = urls[part];
    if (url === undefined) continue;
    const used = Number(new URL(url).port);
    const earlier = before[part];
    now[part] = used;
    if (earlier !== undefined && earlier !== used)
      moved.push(
        `${NAMES[part]} now has the address ${url}, because port ${earlier} is in use. Links with the old port no longer work; send new links.${part === 'service' ? CALLBACK_URLS : ''}`,
      );
  }
  writePrivately(fileIn(dataFolder), JSON.stringify(now));
  return moved;
}
