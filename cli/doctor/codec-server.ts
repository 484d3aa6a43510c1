/** Checks that the codec server, which Temporal's own tools use, decrypts payloads that this command has encrypted. */
import path from 'node:path';
import { temporal } from '@temporalio/proto';
import { z } from 'zod';
import { loadConfig } from '../../config';
import { createPayloadCodec } from '../../security';
import { RESTART_STACK } from '../suggestions/stack-advice';
import { check, notChecked, ok, CHECK_TIMEOUT_MS, problem, type CheckResult, type ConfigPart } from './check-result';

const ABOUT = 'codec server';
const PROBE = 'sent by ferry doctor';
/** A rejected probe shows only that two keys differ. A wrong change of the codec server's key would break the UI. */
const COMPARE_KEYS =
  'compare the payload key of this machine (TOKENFERRY_PAYLOAD_KEY or TOKENFERRY_PAYLOAD_KEY_FILE) with the key of the workers first, and correct it if it differs; if it is the same, configure the codec server with this key';

const { Payload } = temporal.api.common.v1;
const decoded = z.object({ payloads: z.array(z.object({ data: z.string() })) });

/**
 * Returns the result of the check.
 *
 * @param env contains the settings of Temporal's own command (`TEMPORAL_CODEC_ENDPOINT`, `TEMPORAL_CODEC_AUTH`) and the
 *   stack's folder (`TOKENFERRY_HOME`)
 * @param payloadKeys the keys of this machine; unusable if the check of these keys has found a problem
 * @param stackCodecUrl the codec server of the running stack, which is checked if no other codec server is configured
 */
export async function checkCodecServer(
  env: NodeJS.ProcessEnv,
  namespace: string,
  payloadKeys: ConfigPart<'payloadKeys'>,
  stackCodecUrl: string | undefined,
): Promise<readonly CheckResult[]> {
  const configured = env['TEMPORAL_CODEC_ENDPOINT'] || undefined;
  const endpoint = configured ?? stackCodecUrl;
  if (endpoint === undefined) {
    return [
      notChecked(
        ABOUT,
        'not configured on this machine (TEMPORAL_CODEC_ENDPOINT)',
        "Temporal's own tools need a codec server to show names and decisions; to run one, see: ferry codec-server --help",
      ),
    ];
  }
  if ('unusable' in payloadKeys)
    return [notChecked(ABOUT, 'not checked, because the check of the payload key has found a problem')];
  const log =
    configured === undefined
      ? path.join(loadConfig([], env).home, 'logs', 'codec-server.log')
      : "the codec server's log";
  const advice =
    configured === undefined
      ? `see ${log}; ${RESTART_STACK}`
      : 'start the codec server (see: ferry codec-server --help), or correct TEMPORAL_CODEC_ENDPOINT';
  return check(ABOUT, advice, async () => {
    const plain = { metadata: { encoding: Buffer.from('binary/plain') }, data: Buffer.from(PROBE) };
    const [encrypted = plain] = await createPayloadCodec(payloadKeys.value).encode([plain]);
    const response = await fetch(`${endpoint.replaceAll('{namespace}', namespace).replace(/\/$/, '')}/decode`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-namespace': namespace,
        ...(configured && env['TEMPORAL_CODEC_AUTH'] ? { authorization: env['TEMPORAL_CODEC_AUTH'] } : {}),
      },
      body: JSON.stringify({ payloads: [Payload.fromObject(encrypted).toJSON()] }),
      signal: AbortSignal.timeout(CHECK_TIMEOUT_MS),
    });
    if (response.status === 401) {
      return problem(
        ABOUT,
        'the codec server answers 401: the token is missing or was refused',
        'set TEMPORAL_CODEC_AUTH to a valid token, in the form "Bearer TOKEN"',
      );
    }
    // The codec server of this repository answers 403 for either of the two reasons below.
    if (response.status === 403) {
      return problem(
        ABOUT,
        `the codec server answers 403: either the token gives no access to namespace ${namespace}, or the codec server checks no tokens and therefore answers only at localhost or 127.0.0.1`,
        'set TEMPORAL_CODEC_AUTH to a token that gives access to this namespace; if the codec server checks no tokens, run on its machine, with TEMPORAL_CODEC_ENDPOINT at 127.0.0.1: ferry doctor',
      );
    }
    if (response.status === 429 || response.status >= 500) {
      return problem(
        ABOUT,
        `the codec server answers ${response.status}, so it could not be checked`,
        `try again in a minute; if this continues, see ${log}`,
      );
    }
    const body = decoded.safeParse(await response.json().catch(() => undefined));
    const text = Buffer.from(body.data?.payloads[0]?.data ?? '', 'base64').toString();
    const ofStack = configured === undefined ? ', part of the running stack' : '';
    if (text === PROBE)
      return ok(ABOUT, `decrypts payloads that this machine encrypts (at ${new URL(endpoint).host}${ofStack})`);
    // The codec server of this repository answers 422 if it does not have the key of a payload.
    if (response.status === 422)
      return problem(ABOUT, 'this machine and the codec server have different payload keys', COMPARE_KEYS);
    return problem(
      ABOUT,
      `the codec server answers ${response.status}, and does not decrypt payloads that this machine encrypts`,
      configured === undefined ? advice : `correct TEMPORAL_CODEC_ENDPOINT; if it is right, ${COMPARE_KEYS}`,
    );
  });
}
