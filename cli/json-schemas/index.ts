/**
 * The JSON schemas of the outputs of all commands with `--json`. The number of a schema changes when a field is
 * renamed, removed or given another meaning; adding a field does not change it. docs/json.md is generated from here,
 * and the tests validate every output against it.
 */
import { z } from 'zod';
import { DECISION_SCHEMAS } from './decisions';
import { VIEW_SCHEMAS } from './views';
import { SET_UP_SCHEMAS } from './set-up';
import { SUPPLY_SCHEMAS } from './supply';

interface JsonOutput {
  /** The commands that print it. */
  readonly command: string;
  readonly schema: z.ZodObject;
}

/** All outputs by the value of their field `schema`, such as `ferry.check/1`. */
export const JSON_SCHEMAS: ReadonlyMap<string, JsonOutput> = new Map(
  Object.entries({ ...SET_UP_SCHEMAS, ...SUPPLY_SCHEMAS, ...VIEW_SCHEMAS, ...DECISION_SCHEMAS }).map(
    ([name, [command, fields]]) => [name, { command, schema: z.strictObject({ schema: z.literal(name), ...fields }) }],
  ),
);
