import { isIPv6, type Socket } from 'node:net';
import type { Api } from './api';
import { countUntilClosed, type PortalLimits } from './limits';

/**
 * Limits the number of connections in total and per address. All IPv6 addresses of a /64 network count as one address.
 */
export function limitConnections({ server }: Api, { connections, connectionsPerAddress }: PortalLimits): void {
  const isAdmitted = countUntilClosed(connectionsPerAddress);
  server.maxConnections = connections;
  server.on('connection', (socket: Socket) => {
    if (!isAdmitted(networkOf(socket.remoteAddress ?? ''), socket)) socket.destroy();
  });
}

/** Returns the /64 network of an IPv6 address. Returns an IPv4 address as it is, also in IPv6 notation. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = '', tail = ''] = address.split('%', 1).join('').split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = address.includes('::')
    ? [...groups(head), ...Array.from({ length: missing }, () => '0'), ...groups(tail)]
    : groups(head);
  return all.slice(0, 4).join(':');
}
