import { isIPv4 } from 'node:net';

/** Whether only this machine reaches the address: by its form, nobody is asked for a name. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
