import type { Line } from '../terminal/line';

/** What the largest part of the screen shows. */
export interface Page {
  readonly title: Line;
  readonly lines: readonly Line[];
  /** What each key does, by the key. */
  readonly keys: readonly (readonly [key: string, does: string])[];
}
