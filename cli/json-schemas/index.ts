/**
 * What each command prints with `--json`. The number of a form changes when a field is renamed, removed or given another
 * meaning; a field may be added without that. docs/json.md is written from here, and tests hold every output to it.
 */
import { z } from 'zod';
import { DECISION_SCHEMAS } from './decisions';
import { VIEW_SCHEMAS } from './views';
import { SET_UP_SCHEMAS } from './set-up';
import { SUPPLY_SCHEMAS } from './supply';

interface Shape {
  /** What prints it. */
  readonly command: string;
  readonly schema: z.ZodObject;
}

/** Every form by the name that it has in its field `schema`. */
export const SCHEMA_OF: ReadonlyMap<string, Shape> = new Map(
  Object.entries({ ...SET_UP_SCHEMAS, ...SUPPLY_SCHEMAS, ...VIEW_SCHEMAS, ...DECISION_SCHEMAS }).map(
    ([name, [command, fields]]) => [name, { command, schema: z.strictObject({ schema: z.literal(name), ...fields }) }],
  ),
);
