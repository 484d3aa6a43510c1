/** Numbers, and what others wrote, as people read them. */

/** `1 line`, `2 lines`, `1,203 companies`. */
export function counted(count: number, noun: string): string {
  const plural = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : plural}`;
}

/** What somebody wrote can neither begin a line of its own nor take the room of everything else. */
export function oneLine(text: string, longest: number): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= longest ? line : `${line.slice(0, longest)}...`;
}
