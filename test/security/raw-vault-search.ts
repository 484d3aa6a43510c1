/** Searches raw files for wrapped keys and sealed credentials, and opens as many as it can, as an attacker would. */
import { createECDH, ECDH } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createOpener, credentialBinding, parseMasterKeys, Secret } from '../../security';
import { decrypt } from '../../security/aead';

export interface Attack {
  readonly files: readonly string[];
  /** The master keys, as in their file. */
  readonly masterKeys: string;
  /** Buffers that possibly contain a vault secret. Every sequence of 32 bytes is tried. */
  readonly secrets: readonly Buffer[];
  readonly migrationIds: readonly string[];
  readonly references: readonly string[];
  /** The time at which all credentials were obtained. ISO 8601 in UTC, with milliseconds. */
  readonly obtainedAt: string;
  /** Length of a credential in plain text. All credentials have the same length. */
  readonly credentialBytes: number;
}

export interface AttackResult {
  /** Number of wrapped keys whose outer layer the master keys opened. */
  readonly unwrapped: number;
  /** Number of sealed credentials that were found, opened or not. */
  readonly boxes: number;
  /** The plain texts of the credentials that were opened. */
  readonly opened: readonly string[];
}

/** Lengths of a wrapped key of 32 bytes: each layer adds 28. */
const [ONE_LAYER, TWO_LAYERS] = [32 + 28, 32 + 2 * 28];
/** A box begins with its version, an uncompressed point and a sequence number, and ends with a tag. */
const [BOX_START, POINT_BYTES, SEQUENCE_BYTES, TAG_BYTES] = [Buffer.of(3, 4), 65, 4, 16];
/** Largest distance in bytes between a master key's id and the wrapped key in a row or a log record. */
const NEAR = 120;

export function attack(options: Attack): AttackResult {
  const wrapped = new Map<string, Buffer>();
  const boxes = new Map<string, Buffer>();
  for (const file of options.files) {
    const content = readFileSync(file);
    for (const each of unwrapOuter(content, options)) wrapped.set(each.toString('hex'), each);
    for (const each of findBoxes(content, options)) boxes.set(each.toString('hex'), each);
  }
  const privateKeys = [...wrapped.values()].flatMap((key) => (key.length === 32 ? [key] : unwrapInner(key, options)));
  const opened = new Set<string>();
  for (const privateKey of privateKeys) {
    for (const text of openBoxes(privateKey, [...boxes.values()], options)) opened.add(text);
  }
  return { unwrapped: wrapped.size, boxes: boxes.size, opened: [...opened] };
}

function unwrapOuter(content: Buffer, { masterKeys }: Attack): readonly Buffer[] {
  const found: Buffer[] = [];
  for (const [id, { key }] of parseMasterKeys(new Secret(masterKeys)).byId) {
    for (let at = content.indexOf(id); at !== -1; at = content.indexOf(id, at + 1)) {
      for (let start = at + id.length; start < at + NEAR; start += 1) {
        for (const length of [ONE_LAYER, TWO_LAYERS]) {
          const opened = attempt(() => decrypt(key, content.subarray(start, start + length), id));
          if (opened) found.push(opened);
        }
      }
    }
  }
  return found;
}

function unwrapInner(inner: Buffer, { secrets, migrationIds }: Attack): readonly Buffer[] {
  return secrets.flatMap((content) =>
    Array.from({ length: Math.max(content.length - 31, 0) }, (_, at) => content.subarray(at, at + 32)).flatMap(
      (secret) => migrationIds.flatMap((id) => attempt(() => decrypt(new Secret(secret), inner, id)) ?? []),
    ),
  );
}

function findBoxes(content: Buffer, { credentialBytes }: Attack): readonly Buffer[] {
  const length = 1 + POINT_BYTES + SEQUENCE_BYTES + credentialBytes + TAG_BYTES;
  const found: Buffer[] = [];
  for (let at = content.indexOf(BOX_START); at !== -1; at = content.indexOf(BOX_START, at + 1)) {
    const point = content.subarray(at + 1, at + 1 + POINT_BYTES);
    // Random bytes are hardly ever a point on the curve.
    if (attempt(() => ECDH.convertKey(point, 'prime256v1'))) found.push(Buffer.from(content.subarray(at, at + length)));
  }
  return found;
}

function openBoxes(
  privateKey: Buffer,
  boxes: readonly Buffer[],
  { migrationIds, references, obtainedAt }: Attack,
): readonly string[] {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(privateKey);
  const open = createOpener({ publicKey: ecdh.getPublicKey(), privateKey: new Secret(privateKey) }, 'acme.xero');
  const opened: string[] = [];
  for (const box of boxes) {
    for (const id of migrationIds) {
      for (const reference of references) {
        const text = attempt(() => open(box, credentialBinding(id, { reference, obtainedAt })));
        if (text) opened.push(text.toString());
      }
    }
  }
  return opened;
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
