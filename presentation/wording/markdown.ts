import { withoutUnsafeCharacters } from '../../domain/text/untrusted-text';

/**
 * Escapes text for one line of Markdown, so that it is shown unchanged. Text from people or the service could otherwise
 * contain links, images or HTML. Markdown also turns a bare address into a link.
 */
export function escapedMarkdown(text: string): string {
  return withoutUnsafeCharacters(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>|~&]/g, '\\$&')
    .replace(/:(?=\/\/)/g, '\\:')
    .replace(/\bwww\./gi, (start) => `${start.slice(0, -1)}\\.`);
}

/** Returns an address that Markdown shows as a link; escapes text that is not a plain web address. */
export function markdownLink(text: string): string {
  return /^https?:\/\/[\w.:/?#=&%~+@,;-]+$/.test(text) ? text : escapedMarkdown(text);
}
