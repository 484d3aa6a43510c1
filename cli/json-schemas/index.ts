/**
 * What each command prints with `--json`. The number of a form changes when a field is renamed, removed or given another
 * meaning; a field may be added without that. docs/json.md is written from here, and tests hold every output to it.
 */
import { z } from 'zod';
import { DECIDING } from './decisions';
import { LOOKING } from './views';
import { SETTING_UP } from './set-up';
import { SUPPLYING } from './supply';

interface Shape {
  /** What prints it. */
  readonly command: string;
  readonly schema: z.ZodObject;
}

/** Every form by the name that it has in its field `schema`. */
export const SHAPE_OF: ReadonlyMap<string, Shape> = new Map(
  Object.entries({ ...SETTING_UP, ...SUPPLYING, ...LOOKING, ...DECIDING }).map(([name, [command, fields]]) => [
    name,
    { command, schema: z.strictObject({ schema: z.literal(name), ...fields }) },
  ]),
);
