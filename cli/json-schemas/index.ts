/**
 * The JSON schemas of the outputs of all commands with `--json`. A schema's number changes when a field is
 * renamed, removed or given another meaning, but not when a field is added. docs/json.md is generated from these
 * schemas, and the tests validate every output against them.
 */
import { z } from 'zod';
import { DECISION_SCHEMAS } from './decisions';
import { PORTAL_SCHEMAS } from './portal';
import { REPORT_SCHEMAS } from './reports';
import { SET_UP_SCHEMAS } from './set-up';
import { SUPPLY_SCHEMAS } from './supply';
import { VIEW_SCHEMAS } from './views';

interface JsonOutput {
  /** The commands that print this output. */
  readonly command: string;
  readonly schema: z.ZodObject;
}

/** All outputs, by the value of their field `schema`, for example `ferry.check/1`. */
export const JSON_SCHEMAS: ReadonlyMap<string, JsonOutput> = new Map(
  Object.entries({
    ...SET_UP_SCHEMAS,
    ...SUPPLY_SCHEMAS,
    ...VIEW_SCHEMAS,
    ...REPORT_SCHEMAS,
    ...DECISION_SCHEMAS,
    ...PORTAL_SCHEMAS,
  }).map(([name, [command, fields]]) => [
    name,
    { command, schema: z.strictObject({ schema: z.literal(name), ...fields }) },
  ]),
);
