import { hash } from 'node:crypto';

/** Words of 32 bits that a value takes: three of its hash, and its number. */
const WORDS = 4;
const FIRST_SLOTS = 1_024;
/** Fuller, and looking one up would take long. */
const FULLEST = 0.7;

/**
 * A number for each of very many values. Nothing of a value is kept but 96 bits of its SHA-256: files have a million
 * rows, and some values are secret. Of a million, two have the same 96 bits by chance once in 10^17 files.
 */
export class HashedNumbers {
  #slots = new Uint32Array(FIRST_SLOTS * WORDS);
  #size = 0;

  /** Values that have a number. */
  get size(): number {
    return this.#size;
  }

  /** The value's number; 0: it has none. */
  get(value: string): number {
    return this.#slots[slotOf(this.#slots, hashOf(value)) + 3] ?? 0;
  }

  /** @param number from 1 */
  set(value: string, number: number): void {
    this.change(value, () => number);
  }

  /**
   * @param next the number from now on, by the one before, which is 0 where there was none
   * @returns the one before
   */
  change(value: string, next: (before: number) => number): number {
    if (this.#size * WORDS >= this.#slots.length * FULLEST) this.#grow();
    const words = hashOf(value);
    const slot = slotOf(this.#slots, words);
    const before = this.#slots[slot + 3] ?? 0;
    if (before === 0) this.#size += 1;
    put(this.#slots, slot, words, next(before));
    return before;
  }

  #grow(): void {
    const grown = new Uint32Array(this.#slots.length * 2);
    for (let from = 0; from < this.#slots.length; from += WORDS) {
      const [first = 0, second = 0, third = 0, number = 0] = this.#slots.subarray(from, from + WORDS);
      const words: Hash = [first, second, third];
      if (number !== 0) put(grown, slotOf(grown, words), words, number);
    }
    this.#slots = grown;
  }
}

type Hash = readonly [number, number, number];

function hashOf(value: string): Hash {
  const bytes = hash('sha256', value, 'buffer');
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8)];
}

/** Where the value stands, or would: the first free slot from where its hash begins to look. */
function slotOf(slots: Uint32Array, [first, second, third]: Hash): number {
  let slot = (first * WORDS) % slots.length;
  while (slots[slot + 3] !== 0 && !(slots[slot] === first && slots[slot + 1] === second && slots[slot + 2] === third)) {
    slot = (slot + WORDS) % slots.length;
  }
  return slot;
}

function put(slots: Uint32Array, slot: number, words: Hash, number: number): void {
  slots.set(words, slot);
  slots[slot + 3] = number;
}
