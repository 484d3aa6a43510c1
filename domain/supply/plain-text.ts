/** Asks a person to delete a file whose secrets have been sealed. The commands and the portal use the same words. */
export function plainTextAdvice(file: string, content: 'credentials' | 'the client secret', afterwards = ''): string {
  return `${file} still contains ${content} in plain text. Delete it and all copies${afterwards}.`;
}
