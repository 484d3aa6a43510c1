/** The keys of the servers that tests start. */
import { parseServiceKeys, Secret } from '../../../security';
import { createSecretCipher } from '../../../stack/service/secret-cipher';

/**
 * The payload key of all test files. They share it because a file also lists the migrations that other files have left
 * in the namespace.
 */
export const PAYLOAD_KEY = Buffer.alloc(32, 7).toString('base64');

/** The key of the services that tests start. */
export const SERVICE_KEY = serviceKey('k');
/** The cipher with {@link SERVICE_KEY}. */
export const SERVICE_CIPHER = serviceCipher('k');

/** Returns a cipher of the service with these keys, newest first. Each key is made from one character. */
export function serviceCipher(keys: string) {
  return createSecretCipher(parseServiceKeys(new Secret([...keys].map(serviceKey).join('\n'))));
}

function serviceKey(character: string): string {
  return Buffer.alloc(32, character).toString('base64');
}
