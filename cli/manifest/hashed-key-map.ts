import { hash } from 'node:crypto';

/** 32-bit words per entry: three for the key's hash, one for its number. */
const WORDS = 4;
const INITIAL_ENTRIES = 1_024;
/** The load at which the table grows, because lookups are slow in a fuller table. */
const MAX_LOAD = 0.7;

/**
 * A map from strings to numbers: an open-addressing hash table that keeps only 96 bits of the SHA-256 of each key. The
 * keys are not kept, because a file can have a million rows, and because some keys are secret. Among a million keys,
 * the chance that two share the same 96 bits is about 1 in 10^17.
 */
export class HashedKeyMap {
  #table = new Uint32Array(INITIAL_ENTRIES * WORDS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the key's number; 0 if the key is not in the map. */
  get(key: string): number {
    return this.#table[indexOf(this.#table, hashOf(key)) + 3] ?? 0;
  }

  /** @param number at least 1 */
  set(key: string, number: number): void {
    this.update(key, () => number);
  }

  /**
   * Replaces the key's number.
   *
   * @param next computes the new number, at least 1, from the previous one (0 if the key was not in the map)
   * @returns the previous number
   */
  update(key: string, next: (previous: number) => number): number {
    if (this.#size * WORDS >= this.#table.length * MAX_LOAD) this.#grow();
    const words = hashOf(key);
    const index = indexOf(this.#table, words);
    const previous = this.#table[index + 3] ?? 0;
    if (previous === 0) this.#size += 1;
    write(this.#table, index, words, next(previous));
    return previous;
  }

  #grow(): void {
    const grown = new Uint32Array(this.#table.length * 2);
    for (let from = 0; from < this.#table.length; from += WORDS) {
      const [first = 0, second = 0, third = 0, number = 0] = this.#table.subarray(from, from + WORDS);
      const words: Hash = [first, second, third];
      if (number !== 0) write(grown, indexOf(grown, words), words, number);
    }
    this.#table = grown;
  }
}

type Hash = readonly [number, number, number];

function hashOf(key: string): Hash {
  const bytes = hash('sha256', key, 'buffer');
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8)];
}

/** Returns the index of the hash's entry, or of the free entry for it (linear probing). */
function indexOf(table: Uint32Array, [first, second, third]: Hash): number {
  let index = (first * WORDS) % table.length;
  while (
    table[index + 3] !== 0 &&
    !(table[index] === first && table[index + 1] === second && table[index + 2] === third)
  ) {
    index = (index + WORDS) % table.length;
  }
  return index;
}

function write(table: Uint32Array, index: number, words: Hash, number: number): void {
  table.set(words, index);
  table[index + 3] = number;
}
