/** docs/json.md, from the schemas that the outputs are held to. */
import { z } from 'zod';
import { SCHEMA_OF } from '../json-schemas';

/** As much of JSON Schema as zod makes of them. */
interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly description?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
}

export function jsonPage(): string {
  const parts = new Map<string, JsonSchema>();
  const chapters = [...SCHEMA_OF].map(([name, { command, schema }]) => {
    const { $defs = {}, ...shape } = z.toJSONSchema(schema) as JsonSchema;
    for (const [part, definition] of Object.entries($defs)) parts.set(part, definition);
    return [`### ${name}`, command, block(written(shape, ''))].join('\n\n');
  });
  const shared = [...parts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { description, ...part }]) =>
      [`### ${name}`, ...(description === undefined ? [] : [description]), block(written(part, ''))].join('\n\n'),
    );
  return [
    '# What `--json` prints',
    'Written by `npm run docs` from the schemas that the tests hold every output to.',
    [
      'With `--json` a command prints exactly one JSON value on standard output, whether it succeeded or not; the exit code says which.',
      'Its field `schema` names its form. The number behind the slash changes when a field is renamed, removed or given another meaning;',
      'fields may be added without that, so ignore those that you do not know. Lists may be of any length.',
    ].join(' '),
    'Times are ISO 8601 in UTC; `?` behind a name: the field may be missing.',
    '## By command',
    ...chapters,
    '## What they have in common',
    ...shared,
  ]
    .join('\n\n')
    .concat('\n');
}

const block = (text: string): string => `\`\`\`text\n${text}\n\`\`\``;

/** As TypeScript would say it. */
function written(schema: JsonSchema, indent: string): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map((each) => written(each, indent)).join(' | ');
  if (schema.type === 'array') return arrayOf(written(schema.items ?? {}, indent));
  if (schema.type !== 'object') {
    return [schema.type ?? 'unknown']
      .flat()
      .map((type) => (type === 'integer' ? 'number' : type))
      .join(' | ');
  }
  if (!schema.properties) {
    const { additionalProperties: values } = schema;
    return `Record<string, ${typeof values === 'object' ? written(values, indent) : 'unknown'}>`;
  }
  return objectOf(schema, schema.properties, indent);
}

function arrayOf(item: string): string {
  return / \| /.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
}

function objectOf(
  { required = [] }: JsonSchema,
  properties: Readonly<Record<string, JsonSchema>>,
  indent: string,
): string {
  const inside = `${indent}  `;
  const fields = Object.entries(properties).map(([name, field]) => {
    const mark = required.includes(name) ? '' : '?';
    const note = field.description === undefined ? '' : ` // ${field.description}`;
    return `${inside}${name}${mark}: ${written(field, inside)};${note}`;
  });
  return `{\n${fields.join('\n')}\n${indent}}`;
}
