import { createHash } from 'node:crypto';

/** Numbers that depend only on the seed. */
export interface Random {
  /** Returns a whole number from 0 to `below` - 1. */
  int(below: number): number;
  /** Returns a whole number from `from` to `to`, both included. */
  between(from: number, to: number): number;
  /** Returns true with this probability (0 to 1). */
  chance(probability: number): boolean;
  /** @throws if the list is empty */
  pick<T>(list: readonly T[]): T;
  /** Returns the elements in a random order. */
  shuffled<T>(list: readonly T[]): T[];
}

/** @param seed for example `7`, or `7/fault/3` for a separate sequence of numbers */
export function randomOf(seed: number | string): Random {
  let drawn = 0;
  const fraction = (): number => {
    drawn += 1;
    return createHash('sha256').update(`${seed}/${drawn}`).digest().readUInt32BE() / 2 ** 32;
  };
  const int = (below: number): number => Math.floor(fraction() * below);
  return {
    int,
    between: (from, to) => from + int(to - from + 1),
    chance: (probability) => fraction() < probability,
    pick(list) {
      const picked = list[int(list.length)];
      if (picked === undefined) throw new Error('there is nothing to pick from');
      return picked;
    },
    shuffled(list) {
      const rest = [...list];
      return list.map(() => rest.splice(int(rest.length), 1)[0] as (typeof list)[number]);
    },
  };
}
