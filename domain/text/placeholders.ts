/**
 * Placeholders that documentation, messages and templates show in place of a value. A person who pastes an example can
 * leave them in by mistake. Only clear placeholders are recognized, because a real value must never be rejected.
 */

/** Text in brackets, of only punctuation, or of only the letter x: `<client id>`, `{{clientId}}`, `...`, `xxx`. */
const MARKS = [/^<[^<>]*>$/, /^\{\{?[^{}]*\}\}?$/, /^\[[^[\]]*\]$/, /^[.…*_?-]+$/, /^x{3,20}$/i];
/** Placeholders that the documentation writes in capitals. */
const CAPITALS: readonly string[] = ['NAME', 'ID', 'CLIENT_ID', 'SECRET', 'CLIENT_SECRET', 'TEXT', 'CONTACT', 'TODO'];
/** Patterns for a text in lower case without spaces, hyphens and underscores: `your-client-id`, `CHANGE_ME`. */
const WORDS = [
  /^your(own)?(client|app|application|api|oauth|support)?(id|secret|key|name|contact|team|token|clientid|clientsecret)(here)?$/,
  /^(client|app|application)(id|secret)(here)?$/,
  /^(nameof(the)?(person|client|contact|team)|changeme|replaceme|placeholder|inserthere|pastehere)$/,
];
/** Addresses at the domains that are reserved for examples, and the unfinished address `https://example...`. */
const EXAMPLE_URL = /^https?:\/\/(([\w-]+\.)*example\.(com|org|net)([:/?#]|$)|example(\.{3}|…|$))/i;

/** Returns whether a text is a placeholder and not a value. */
export function isPlaceholder(text: string): boolean {
  const value = text.trim();
  if (value === '') return false;
  const word = value.toLowerCase().replace(/[\s_-]+/g, '');
  return (
    MARKS.some((mark) => mark.test(value)) ||
    CAPITALS.includes(value) ||
    WORDS.some((each) => each.test(word)) ||
    EXAMPLE_URL.test(value)
  );
}
