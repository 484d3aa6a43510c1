import { withoutSecrets } from '../security/masking';

/** Nobody reads more of an error than this. */
const LONGEST_TEXT = 500;
/** Looked through for secrets: enough to fill the text above when they are masked. */
const LONGEST_LOOK = 8 * LONGEST_TEXT;

/**
 * A text in which the service says what went wrong, as it may be shown, logged and kept: in one line, cut, and without
 * what it may have quoted of a credential.
 *
 * @param secrets what the call has sent
 */
export function redact(text: string, secrets: readonly string[] = []): string {
  const line = text.slice(0, LONGEST_LOOK).replace(/\p{Cc}+/gu, ' ');
  return withoutSecrets(line, secrets).slice(0, LONGEST_TEXT);
}
