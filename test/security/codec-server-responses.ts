/** Calls the codec server in many ways and saves its responses, so that they can be searched for markers. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { LedgerClient } from '../../client';
import { parsePayloadKeys, Secret } from '../../security';
import { createTokenVerifier, startCodecServer } from '../../security/codec-server';
import { createLog } from '../../security/log';

interface WirePayload {
  readonly metadata: Readonly<Record<string, string>>;
  readonly data: string;
}

/** Returns all payloads in the history of a migration, in the form that the codec server accepts. */
export async function payloadsOf(ferry: LedgerClient, id: string): Promise<readonly WirePayload[]> {
  const base64 = (bytes: unknown): string => Buffer.from(bytes as Uint8Array).toString('base64');
  const below = (value: unknown): WirePayload[] => {
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
    if (!('metadata' in value) || !('data' in value) || typeof value.metadata !== 'object')
      return Object.values(value).flatMap(below);
    const metadata = Object.entries(value.metadata ?? {}).map(([name, bytes]) => [name, base64(bytes)]);
    return [{ metadata: Object.fromEntries(metadata) as Record<string, string>, data: base64(value.data) }];
  };
  return below(await ferry.temporalWithoutCodec.workflow.getHandle(id).fetchHistory());
}

/**
 * Saves the codec server's responses in `folder`/responses, except those that contain decoded payloads, and its log in
 * `folder`/logs.
 *
 * @param marker a text that the payloads contain
 */
export async function saveResponses(
  payloads: readonly WirePayload[],
  { folder, payloadKey, marker }: { readonly folder: string; readonly payloadKey: string; readonly marker: string },
): Promise<void> {
  const [trusted, untrusted] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')];
  const [issuer, audience, keySet] = ['https://identity.example', 'codec', path.join(folder, 'key-set.json')];
  writeFileSync(keySet, JSON.stringify({ keys: [{ ...(await exportJWK(trusted.publicKey)), alg: 'ES256' }] }));
  const token = (namespaces: readonly string[], expires = '5 minutes', key = trusted.privateKey): Promise<string> =>
    new SignJWT({ namespaces: [...namespaces], sub: 'somebody', iss: issuer, aud: audience })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime(expires)
      .sign(key);
  const server = await startCodecServer({
    payloadKeys: parsePayloadKeys(new Secret(payloadKey)),
    origins: ['https://temporal.example'],
    verifyToken: await createTokenVerifier({ issuer, audience, keySet }),
    host: '127.0.0.1',
    port: 0,
    log: createLog({ level: 'trace', to: path.join(folder, 'logs', 'codec-server.log') }),
  });
  const call = async (route: string, body: string, bearer?: string): Promise<string> => {
    const response = await fetch(`${server.url}/${route}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-namespace': 'default',
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      },
      body,
    });
    return [response.status, JSON.stringify([...response.headers]), await response.text()].join('\n');
  };

  const encrypted = JSON.stringify({ payloads });
  const plain = JSON.stringify({ payloads: [{ metadata: {}, data: Buffer.from(marker).toString('base64') }] });
  const validToken = await token(['default']);
  const decoded = JSON.parse((await call('decode', encrypted, validToken)).split('\n')[2] ?? '') as {
    payloads: WirePayload[];
  };
  expect(decoded.payloads.some(({ data }) => Buffer.from(data, 'base64').includes(marker))).toBe(true);

  const invalidTokens = [
    undefined,
    'nonsense',
    marker,
    await token(['other']),
    await token(['default'], '5 minutes ago'),
  ];
  const unauthorized = [...invalidTokens, await token(['default'], '5 minutes', untrusted.privateKey)];
  let responses = 0;
  const save = (response: string): void => {
    responses += 1;
    writeFileSync(path.join(folder, 'responses', `${responses}.txt`), response);
  };
  const invalidBase64 = encrypted.replace('"data":"', `"data":"*${marker}`);
  for (const bearer of unauthorized) {
    for (const body of [encrypted, plain, invalidBase64, `{"${marker}`]) {
      for (const route of ['decode', 'encode']) save(await call(route, body, bearer));
    }
  }
  // The error that an authorized caller receives describes the problem, and must not quote the body.
  for (const body of [invalidBase64, `{"${marker}`, `"${marker}"`]) save(await call('decode', body, validToken));
  for (const body of [encrypted, plain]) save(await call('encode', body, validToken));
  save(await call('else', encrypted));
  await server.close();
}
