import type { Platform, Route } from '../../platforms/platforms';
import { nearest } from '../shared/options';
import { quoted, type Report } from './findings';
import type { Cell, Table, TableRow } from './files/table';

/** Which columns a file of one kind has. */
export interface Columns {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Known, of no use in this file, and no reason for a warning. */
  readonly ignored: readonly string[];
  /** Other names of a column. */
  readonly aliases: Readonly<Record<string, string>>;
}

/** The fields of a platform's authorization body. */
export const authorizationFields = (platform: Platform): string[] => [
  ...platform.requiredFields,
  ...platform.optionalFields,
];

/** The authorization fields that make a credential; the organization alone is none. */
export const credentialFields = (platform: Platform): string[] =>
  authorizationFields(platform).filter((field) => field !== platform.organizationField);

/** What the service calls a company and a connection that exist: in the self-service route alone. */
export const COMPANY_ID = 'serviceCompanyId';
export const CONNECTION_ID = 'serviceConnectionId';

const COMPANY_FIELDS = ['name', 'expectedInvoices', 'wave', 'family', COMPANY_ID, CONNECTION_ID];

/** Their short names, where the platform calls nothing of its own so. */
function shortNames(platform: Platform): Record<string, string> {
  const short = Object.entries({ companyId: COMPANY_ID, connectionId: CONNECTION_ID });
  return Object.fromEntries(short.filter(([name]) => !authorizationFields(platform).includes(name)));
}

export function manifestColumns(platform: Platform, route: Route): Columns {
  const family = platform.family === 'user' ? ['family'] : [];
  const ids = route === 'self-service' ? [COMPANY_ID, CONNECTION_ID] : [];
  return {
    required: ['reference', 'name', platform.organizationField],
    optional: ['expectedInvoices', 'wave', ...family, ...ids, ...credentialFields(platform), 'obtainedAt'],
    ignored: [],
    aliases: { organization: platform.organizationField, ...(route === 'self-service' ? shortNames(platform) : {}) },
  };
}

export function credentialColumns(platform: Platform): Columns {
  const organization = platform.organizationField;
  return {
    required: ['reference', ...platform.requiredFields],
    optional: [...new Set([organization, ...platform.optionalFields, 'obtainedAt'])],
    ignored: COMPANY_FIELDS,
    aliases: { organization, ...shortNames(platform) },
  };
}

/** The cells of one row by the name of their column. Columns that the file does not have are absent. */
export type CellsByField = ReadonlyMap<string, Cell>;

/**
 * Finds out which column is which. Case, blanks, hyphens and underscores in a header do not matter.
 *
 * @returns what brings a row's cells under their names, or `null` where columns are missing or ambiguous: reported, all at once
 */
export function matchColumns(
  file: string,
  { headers }: Table,
  columns: Columns,
  report: Report,
): ((row: TableRow) => CellsByField) | null {
  const known = new Map(
    [...columns.required, ...columns.optional, ...columns.ignored, ...Object.keys(columns.aliases)].map((name) => [
      plain(name),
      columns.aliases[name] ?? name,
    ]),
  );
  const found = new Map<string, number>();
  const unknown: Cell[] = [];
  let clear = true;

  headers.forEach((header, index) => {
    const name = known.get(plain(header.text));
    const earlier = name === undefined ? undefined : headers[found.get(name) ?? -1];
    if (name === undefined) {
      if (header.text.trim() !== '') unknown.push(header);
    } else if (earlier === undefined) {
      found.set(name, index);
    } else {
      clear = false;
      report({
        code: 'duplicate-column',
        severity: 'error',
        ...{ file, line: header.line, column: header.column, field: name },
        message: `columns ${earlier.column} and ${header.column} are both ${name}`,
        advice: 'remove one of them',
      });
    }
  });

  if (found.size === 0) {
    reportNoHeader(file, columns, report);
    return null;
  }
  const missing = columns.required.filter((name) => !found.has(name));
  if (missing.length > 0) reportMissing(file, headers, missing, unknown, report);
  else
    reportUnknown(
      file,
      unknown,
      [...known.values()].filter((name) => !found.has(name)),
      report,
    );
  if (missing.length > 0 || !clear) return null;

  return ({ cells }) =>
    new Map([...found].flatMap(([name, index]) => (cells[index] ? [[name, cells[index]] as const] : [])));
}

const plain = (header: string): string => header.toLowerCase().replace(/[\s_-]/g, '');

/** Without a header the first line is a company's, perhaps with its credential: none of it is repeated. */
function reportNoHeader(file: string, columns: Columns, report: Report): void {
  report({
    code: 'no-header',
    severity: 'error',
    file,
    line: 1,
    message: 'none of the expected columns is there; the first line must name them',
    advice: `begin the file with: ${columns.required.join(',')}`,
  });
}

function reportMissing(
  file: string,
  headers: readonly Cell[],
  missing: readonly string[],
  unknown: readonly Cell[],
  report: Report,
): void {
  const names = headers.map(({ text }) => text.trim()).filter((text) => text !== '');
  const misspelt = missing.flatMap((name) => {
    const near = nearest(
      name,
      unknown.map(({ text }) => text.trim()),
    );
    return near === undefined ? [] : [`rename ${quoted(near)} to ${name}`];
  });
  report({
    code: 'missing-column',
    severity: 'error',
    ...{ file, line: headers[0]?.line ?? 1 },
    message: `missing: ${missing.join(', ')}; found: ${names.map((name) => quoted(name)).join(', ')}`,
    advice: misspelt.length > 0 ? misspelt.join('; ') : `add ${missing.length === 1 ? 'the column' : 'the columns'}`,
  });
}

function reportUnknown(file: string, unknown: readonly Cell[], unused: readonly string[], report: Report): void {
  for (const header of unknown) {
    const near = nearest(header.text.trim(), unused);
    report({
      code: 'unknown-column',
      severity: 'warning',
      ...{ file, line: header.line, column: header.column },
      message: `the column ${quoted(header.text.trim())} is not used`,
      advice: near === undefined ? 'remove it if it is not meant for this' : `if ${near} is meant, rename it`,
    });
  }
}
