/** Reads single keys in raw mode, without Enter. */
import { emitKeypressEvents } from 'node:readline';
import type { ReadStream } from 'node:tty';

export interface Keyboard {
  /** Leaves raw mode while `work` runs, so that `work` can ask questions. */
  whileReleased<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Leaves raw mode and stops reading, so that the process can end. */
  close(): void;
}

interface PressedKey {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
}

/**
 * Reads keys until `close`.
 *
 * @param onKey gets the name of a key: the typed letter, `up`, `return`, `ctrl-c`, ...
 */
export function openKeyboard(stdin: ReadStream, onKey: (key: string) => void): Keyboard {
  const listen = (text: string | undefined, key: PressedKey): void => {
    const name = nameOf(text, key);
    if (name !== null) onKey(name);
  };
  let isClosed = false;
  const listenToKeys = (): void => {
    if (isClosed) return;
    stdin.setRawMode(true);
    stdin.on('keypress', listen);
    stdin.resume();
  };
  const release = (): void => {
    stdin.off('keypress', listen);
    stdin.setRawMode(false);
    stdin.pause();
  };
  emitKeypressEvents(stdin);
  listenToKeys();
  return {
    close: () => {
      isClosed = true;
      release();
    },
    whileReleased: async (work) => {
      release();
      try {
        return await work();
      } finally {
        listenToKeys();
      }
    },
  };
}

function nameOf(text: string | undefined, { name, ctrl, meta }: PressedKey): string | null {
  if (ctrl) return name === undefined ? null : `ctrl-${name}`;
  if (meta && name !== 'escape') return null;
  // Uses the text itself, because a name does not show the case of a letter, and punctuation has no name.
  if (text?.length === 1 && text > ' ' && text !== '\x7f') return text;
  return name ?? null;
}
