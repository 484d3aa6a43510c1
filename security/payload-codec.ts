/**
 * Encrypts the payloads that Temporal stores: inputs, results, messages, memos, details and failures. Ids and search
 * attributes are not encrypted.
 *
 * Clients and workers encrypt payloads before they send them, and decrypt payloads that they receive. Temporal's
 * operators, database and UI see only the ciphertext of a payload, the id of its payload key, and the namespace and the
 * workflow that it is bound to. The codec server decrypts payloads for authorized readers.
 */
import type {
  DataConverter,
  LoadedDataConverter,
  Payload,
  PayloadCodec,
  SerializationContext,
} from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { decrypt, encrypt } from './aead';
import { failureConverter } from './failure-converter';
import type { KeyRing } from './key-ring';
import {
  ALTERED,
  BOUND_NAMESPACE,
  BOUND_WORKFLOW,
  ENCRYPTED,
  isKeyId,
  KEY_ID,
  payloadConverter,
} from './payload-converter';

const StoredPayload = temporal.api.common.v1.Payload;

/**
 * Replaces a payload that fails authentication. The payload converter turns it into an `UnreadablePayload`, because the
 * SDK's converter does not know its encoding.
 */
const ALTERED_PAYLOAD: Payload = { metadata: { encoding: Buffer.from(ALTERED) } };

/** Thrown when this process does not have the payload key under which a payload was encrypted. */
export class UnknownPayloadKey extends Error {
  override readonly name = 'UnknownPayloadKey';

  constructor(
    readonly keyId: string,
    known: readonly string[],
  ) {
    super(
      isKeyId(keyId)
        ? `A payload was encrypted under payload key ${keyId}, but this process only has ${known.join(', ')}. ` +
            `Start this process with payload key ${keyId} as well, at the same place as in the list of the other processes.`
        : 'A payload names no valid payload key, so no process can decrypt it.',
    );
  }
}

/** Creates the data converter of clients, which encrypts and decrypts payloads. */
export function createDataConverter(payloadKeys: KeyRing): LoadedDataConverter {
  return { payloadConverter, failureConverter, payloadCodecs: [createPayloadCodec(payloadKeys)] };
}

/**
 * Creates a data converter that does not decrypt payloads. It needs no key. Its users can read only data that is not
 * encrypted, such as states, times and counts.
 */
export function createPlainDataConverter(): LoadedDataConverter {
  return { payloadConverter, failureConverter, payloadCodecs: [] };
}

/**
 * Creates the data converter of workers. Unlike a client's converter, it does not throw when a message was encrypted
 * under an unknown key: see {@link createPayloadCodec}. It contains the paths of its converters' files, because a
 * worker loads these files itself.
 */
export function createWorkerDataConverter(payloadKeys: KeyRing): DataConverter {
  return {
    payloadConverterPath: require.resolve('./payload-converter'),
    failureConverterPath: require.resolve('./failure-converter'),
    payloadCodecs: [createPayloadCodec(payloadKeys, { unknownKeyInMessages: 'keep' })],
  };
}

/** Options of `createPayloadCodec`. The codec of a client uses the defaults. */
interface CodecOptions {
  /** `keep` leaves a workflow's payload encrypted if its key is unknown. Default: `throw`. */
  readonly unknownKeyInMessages?: 'throw' | 'keep';
  /** The namespace to bind payloads to if the SDK does not specify one. Default: none. */
  readonly namespace?: string;
}

/**
 * Creates the codec. It encodes with the newest key, and binds each payload to its namespace and its workflow if the
 * SDK specifies them. How it decodes depends on the payload:
 *
 * - A payload that was encrypted under a known key is decrypted.
 * - A payload that is not encrypted is returned unchanged, because a person can enter a payload in Temporal's UI or
 *   CLI.
 * - A payload that was altered after its encryption, or copied from another workflow, is replaced by an unreadable
 *   value, because a single message must not stop a migration.
 * - For a payload that was encrypted under an unknown key, it throws {@link UnknownPayloadKey}, because the data would
 *   be lost otherwise. The exception: in a worker, a workflow's payload stays encrypted, because it can be a message
 *   from anyone who may write to the namespace. `workflows/interceptors.ts` then refuses the message. If the payload is
 *   an input or a result instead of a message, the interceptors fail the workflow task. The codec cannot make this
 *   distinction, because the SDK does not tell it which of these a payload is.
 */
export function createPayloadCodec({ newest, byId }: KeyRing, options: CodecOptions = {}): PayloadCodec {
  function encode(payload: Payload, context: SerializationContext | undefined): Payload {
    const binding = { namespace: context?.namespace ?? options.namespace, workflowId: context?.workflowId };
    const { namespace, workflowId } = binding;
    return {
      metadata: {
        encoding: Buffer.from(ENCRYPTED),
        [KEY_ID]: Buffer.from(newest.id),
        ...(namespace === undefined ? {} : { [BOUND_NAMESPACE]: Buffer.from(namespace) }),
        ...(workflowId === undefined ? {} : { [BOUND_WORKFLOW]: Buffer.from(workflowId) }),
      },
      data: encrypt(newest.key, StoredPayload.encode(payload).finish(), authenticated(newest.id, binding)),
    };
  }

  function decode(payload: Payload, context: SerializationContext | undefined): Payload {
    const { metadata } = payload;
    if (textOf(metadata?.['encoding']) !== ENCRYPTED) return payload;
    const keyId = textOf(metadata?.[KEY_ID]);
    const known = byId.get(keyId);
    if (!known) {
      if (options.unknownKeyInMessages === 'keep' && context?.type === 'workflow') return payload;
      throw new UnknownPayloadKey(keyId, [...byId.keys()]);
    }
    const binding = { namespace: boundTo(metadata, BOUND_NAMESPACE), workflowId: boundTo(metadata, BOUND_WORKFLOW) };
    if (context && !belongsTo(binding, context)) return ALTERED_PAYLOAD;
    try {
      const decrypted = decrypt(known.key, payload.data ?? new Uint8Array(), authenticated(keyId, binding));
      return StoredPayload.decode(decrypted);
    } catch {
      return ALTERED_PAYLOAD;
    }
  }

  return {
    encode: async (payloads, context) => payloads.map((payload) => encode(payload, context)),
    decode: async (payloads, context) => payloads.map((payload) => decode(payload, context)),
  };
}

/** The namespace and the workflow that a payload belongs to. A part that was not known at encryption is undefined. */
interface Binding {
  readonly namespace: string | undefined;
  readonly workflowId: string | undefined;
}

/**
 * Temporal appends the time of the occurrence to the id of a workflow that a Schedule starts. The input of this
 * workflow is bound to the id without the time.
 */
const OCCURRENCE = /^-\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

function belongsTo({ namespace, workflowId }: Binding, context: SerializationContext): boolean {
  if (namespace !== undefined && namespace !== context.namespace) return false;
  if (workflowId === undefined || context.workflowId === undefined || workflowId === context.workflowId) return true;
  return context.workflowId.startsWith(workflowId) && OCCURRENCE.test(context.workflowId.slice(workflowId.length));
}

/** Returns the additional authenticated data: the metadata of a payload that must not be altered. */
function authenticated(keyId: string, { namespace, workflowId }: Binding): string {
  if (namespace === undefined && workflowId === undefined) return keyId;
  return JSON.stringify([keyId, namespace ?? null, workflowId ?? null]);
}

function boundTo(metadata: Payload['metadata'], name: string): string | undefined {
  const bytes = metadata?.[name];
  return bytes && textOf(bytes);
}

const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString();
