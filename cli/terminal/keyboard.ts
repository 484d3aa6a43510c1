/** Keys as they are pressed, without waiting for Enter. */
import { emitKeypressEvents } from 'node:readline';
import type { ReadStream } from 'node:tty';

export interface Keyboard {
  /** Leaves the keys to somebody else for a while, who may ask questions. */
  whileAside<Result>(work: () => Promise<Result>): Promise<Result>;
  /** The keyboard as it was; the process can end. */
  close(): void;
}

interface PressedKey {
  readonly name?: string;
  readonly sequence?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
}

/** @param pressed with the key's name: a letter as it was typed, `up`, `return`, `escape`, `ctrl-c`, ... */
export function openKeyboard(stdin: ReadStream, pressed: (key: string) => void): Keyboard {
  const listen = (text: string | undefined, key: PressedKey): void => {
    const name = nameOf(text, key);
    if (name !== null) pressed(name);
  };
  let isClosed = false;
  const take = (): void => {
    if (isClosed) return;
    stdin.setRawMode(true);
    stdin.on('keypress', listen);
    stdin.resume();
  };
  const leave = (): void => {
    stdin.off('keypress', listen);
    stdin.setRawMode(false);
    stdin.pause();
  };
  emitKeypressEvents(stdin);
  take();
  return {
    close: () => {
      isClosed = true;
      leave();
    },
    whileAside: async (work) => {
      leave();
      try {
        return await work();
      } finally {
        take();
      }
    },
  };
}

function nameOf(text: string | undefined, { name, ctrl, meta }: PressedKey): string | null {
  if (ctrl) return name === undefined ? null : `ctrl-${name}`;
  if (meta && name !== 'escape') return null;
  // A letter as it was typed, with its case, and signs that have no name.
  if (text?.length === 1 && text > ' ' && text !== '\x7f') return text;
  return name ?? null;
}
