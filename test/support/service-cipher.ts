import { parseServiceKeys, Secret } from '../../security';
import { createSecretCipher } from '../../stack/service/secret-cipher';

/** Returns a cipher of the service with these keys, newest first. Each key is made from one character. */
export function serviceCipher(keys: string) {
  const encoded = [...keys].map((key) => Buffer.alloc(32, key).toString('base64'));
  return createSecretCipher(parseServiceKeys(new Secret(encoded.join('\n'))));
}

/** The cipher of the services that tests start. */
export const SERVICE_CIPHER = serviceCipher('k');
