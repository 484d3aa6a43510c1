/**
 * The metadata of encrypted payloads. This file is separate from the codec, because the workflow sandbox loads it too.
 */

/** The encoding that Temporal's samples use. Temporal's tools show payloads with this encoding as encrypted. */
export const ENCRYPTED = 'binary/encrypted';
/** The encoding of the empty payload with which the codec replaces a payload that it could not authenticate. */
export const ALTERED = 'tokenferry/altered';
export const KEY_ID = 'encryption-key-id';
/** The namespace and the workflow that a payload is bound to. Authenticated together with the key id. */
export const BOUND_NAMESPACE = 'bound-to-namespace';
export const BOUND_WORKFLOW = 'bound-to-workflow';
