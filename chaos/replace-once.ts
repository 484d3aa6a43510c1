/**
 * Replaces a text that occurs exactly once. Chaos runs edit the compiled product with it.
 *
 * @param file the name of the text, for the error
 * @throws if it does not occur exactly once
 */
export function replaceOnce(file: string, text: string, before: string, after: string): string {
  const at = text.indexOf(before);
  if (at < 0 || text.includes(before, at + 1)) throw new Error(`${file} must contain this exactly once: ${before}`);
  return text.slice(0, at) + after + text.slice(at + before.length);
}
