/** The bytes alone: small Buffers are pieces of one large memory, which a library would take as a whole. */
export const toArrayBuffer = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer;
