/** The codec server that Temporal's tools are told of: whether it opens what this ferry closes. */
import { temporal } from '@temporalio/proto';
import { z } from 'zod';
import { createPayloadCodec } from '../../security';
import type { Configured } from './configured';
import type { Examined } from './finding';
import { examine, notChecked, ok, PATIENCE_MS, problem } from './finding';

const ABOUT = 'codec server';
const ASKED = 'asked by the doctor';

const { Payload } = temporal.api.common.v1;
const decoded = z.object({ payloads: z.array(z.object({ data: z.string() })) });

/** @param env where Temporal's own command is told of it: `TEMPORAL_CODEC_ENDPOINT`, `TEMPORAL_CODEC_AUTH` */
export async function examineCodec(
  env: NodeJS.ProcessEnv,
  namespace: string,
  payloadKeys: Configured<'payloadKeys'>,
): Promise<readonly Examined[]> {
  const endpoint = env['TEMPORAL_CODEC_ENDPOINT'] || undefined;
  if (endpoint === undefined) {
    return [notChecked(ABOUT, 'not configured here (TEMPORAL_CODEC_ENDPOINT)', "Temporal's own command needs it")];
  }
  if ('found' in payloadKeys) return [notChecked(ABOUT, 'the payload key has to be there first')];
  return examine(ABOUT, 'start it (ferry codec-server), or correct TEMPORAL_CODEC_ENDPOINT', async () => {
    const plain = { metadata: { encoding: Buffer.from('binary/plain') }, data: Buffer.from(ASKED) };
    const [closed = plain] = await createPayloadCodec(payloadKeys.value).encode([plain]);
    const answer = await fetch(`${endpoint.replaceAll('{namespace}', namespace).replace(/\/$/, '')}/decode`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-namespace': namespace,
        ...(env['TEMPORAL_CODEC_AUTH'] ? { authorization: env['TEMPORAL_CODEC_AUTH'] } : {}),
      },
      body: JSON.stringify({ payloads: [Payload.fromObject(closed).toJSON()] }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (answer.status === 401 || answer.status === 403) {
      return problem(ABOUT, `answers ${answer.status}: the token is missing or refused`, 'set TEMPORAL_CODEC_AUTH');
    }
    const body = decoded.safeParse(await answer.json().catch(() => undefined));
    const text = Buffer.from(body.data?.payloads[0]?.data ?? '', 'base64').toString();
    if (text === ASKED) return ok(ABOUT, `decodes what is encrypted here, at ${new URL(endpoint).host}`);
    return problem(
      ABOUT,
      `answers ${answer.status}, and does not decode what is encrypted here`,
      'give it this payload key',
    );
  });
}
