import { PLATFORMS, type Platform, type Route } from '../../platforms/platforms';
import { nearest } from '../text/nearest';
import { eitherOf } from '../text/sentences';
import { inQuotes, type Report } from './findings';

/** The text of one field and its place in the file. */
export interface Cell {
  readonly text: string;
  readonly line: number;
  /** See `Finding.column`. */
  readonly column: number;
}

/** The row of a company or a credential. */
export interface TableRow {
  readonly line: number;
  /** One cell per header of the table, in the same order. */
  readonly cells: readonly Cell[];
}

/** The rows of a CSV or JSON file. */
export interface Table {
  readonly headers: readonly Cell[];
  /** Can be read only once. Throws `UnreadableFile` if the rest of the file cannot be read. */
  readonly rows: AsyncIterable<TableRow>;
}

/** The columns of one kind of file. */
export interface Columns {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Known columns that this kind of file does not use. They cause no warning. */
  readonly ignored: readonly string[];
  /** Maps alternative names to the name of the column. */
  readonly aliases: Readonly<Record<string, string>>;
}

/** Returns the fields of a platform's authorization body. */
export const authorizationFields = (platform: Platform): string[] => [
  ...platform.requiredFields,
  ...platform.optionalFields,
];

/** Returns the authorization fields that make up a credential: all except the organization. */
export const credentialFields = (platform: Platform): string[] =>
  authorizationFields(platform).filter((field) => field !== platform.organizationField);

/** The columns for the service's ids of an existing company and connection, only on the self-service route. */
export const COMPANY_ID = 'serviceCompanyId';
export const CONNECTION_ID = 'serviceConnectionId';

const COMPANY_FIELDS = ['name', 'expectedInvoices', 'wave', 'family', COMPANY_ID, CONNECTION_ID];

/**
 * Maps the short names of the id columns to their full names. Omits names that the platform uses for its own fields.
 */
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

/** The cells of one row by column name. Columns that the file does not have are absent. */
export type CellsByField = ReadonlyMap<string, Cell>;

/**
 * Matches the headers of a file to known columns. Ignores case, spaces, hyphens and underscores.
 *
 * @returns a function that maps column names to a row's cells; null if columns are missing or ambiguous, which is
 * reported
 */
export function matchColumns(
  file: string,
  { headers }: Table,
  columns: Columns,
  report: Report,
): ((row: TableRow) => CellsByField) | null {
  const columnByHeader = new Map(
    [...columns.required, ...columns.optional, ...columns.ignored, ...Object.keys(columns.aliases)].map((name) => [
      normalized(name),
      columns.aliases[name] ?? name,
    ]),
  );
  const found = new Map<string, number>();
  const unknown: Cell[] = [];
  let isUnambiguous = true;

  headers.forEach((header, index) => {
    const name = columnByHeader.get(normalized(header.text));
    const first = name === undefined ? undefined : headers[found.get(name) ?? -1];
    if (name === undefined) {
      if (header.text.trim() !== '') unknown.push(header);
    } else if (first === undefined) {
      found.set(name, index);
    } else {
      isUnambiguous = false;
      report({
        code: 'duplicate-column',
        severity: 'error',
        ...{ file, line: header.line, column: header.column, field: name },
        message: `the columns ${inQuotes(first.text)} and ${inQuotes(header.text)} are both read as ${name}`,
        advice: 'remove one of them',
      });
    }
  });

  if (found.size === 0) {
    reportNoHeader(file, columns, report);
    return null;
  }
  const missing = columns.required.filter((name) => !found.has(name));
  const explained = missing.length > 0 ? reportMissing(file, headers, missing, unknown, report) : [];
  reportUnknown(
    file,
    unknown.filter(({ text }) => !explained.includes(text.trim())),
    [...columnByHeader.values()].filter((name) => !found.has(name) && !missing.includes(name)),
    report,
  );
  if (missing.length > 0 || !isUnambiguous) return null;

  return ({ cells }) =>
    new Map([...found].flatMap(([name, index]) => (cells[index] ? [[name, cells[index]] as const] : [])));
}

/** Returns a column name without case, spaces, hyphens and underscores. */
export const normalized = (header: string): string => header.toLowerCase().replace(/[\s_-]/g, '');

/** Reports a missing header. Does not quote the first line, because it might contain a credential. */
function reportNoHeader(file: string, columns: Columns, report: Report): void {
  report({
    code: 'no-header',
    severity: 'error',
    file,
    line: 1,
    message: 'none of the expected columns was found; in CSV, the first line must contain the column names',
    advice: `use at least these column names: ${columns.required.join(',')}`,
  });
}

/** Reports missing columns. Returns the headers that the advice mentions. */
function reportMissing(
  file: string,
  headers: readonly Cell[],
  missing: readonly string[],
  unknown: readonly Cell[],
  report: Report,
): readonly string[] {
  const names = headers.map(({ text }) => text.trim()).filter((text) => text !== '');
  const unused = unknown.map(({ text }) => text.trim());
  const others = missing.some(isOrganizationField) ? headersOfOtherPlatforms(unused) : [];
  const near = missing.map((name) => ({ name, headers: nearMisses(name, unused) }));
  const misspelt = near
    .filter((each) => each.headers.length > 0)
    .map((each) => `rename ${each.headers.map((header) => inQuotes(header)).join(' or ')} to ${each.name}`);
  const add = `add ${missing.length === 1 ? 'the column' : 'the columns'}`;
  const rename = misspelt.length > 0 ? misspelt.join('; ') : add;
  report({
    code: 'missing-column',
    severity: 'error',
    ...{ file, line: headers[0]?.line ?? 1 },
    message: `missing: ${missing.join(', ')}; found: ${names.map((name) => inQuotes(name)).join(', ')}`,
    advice:
      others.length === 0
        ? rename
        : `this looks like a file for ${eitherOf(others.flatMap(({ platforms }) => platforms))}, so check the platform; if the platform is right, ${rename}`,
  });
  return [...near.flatMap((each) => each.headers), ...others.map(({ header }) => header)];
}

const isOrganizationField = (name: string): boolean =>
  PLATFORMS.some(({ organizationField }) => organizationField === name);

/** Returns the headers that can only be the organization of another platform, with the names of the platforms. */
function headersOfOtherPlatforms(
  headers: readonly string[],
): readonly { readonly header: string; readonly platforms: readonly string[] }[] {
  const ambiguous = Object.values(USUAL_HEADERS).flat();
  return headers
    .filter((header) => !ambiguous.includes(normalized(header)))
    .map((header) => ({
      header,
      platforms: PLATFORMS.filter((each) => normalized(each.organizationField) === normalized(header)).map(
        ({ name }) => name,
      ),
    }))
    .filter(({ platforms }) => platforms.length > 0);
}

/**
 * Headers that people use instead of the name of a column. A finding only suggests renaming them, because they can also
 * have another meaning.
 */
const USUAL_HEADERS: Readonly<Record<string, readonly string[]>> = {
  name: ['company', 'customer', 'client', 'business'],
  reference: ['ref', 'id', 'companyid', 'customerid', 'clientid', 'externalid', 'customernumber', 'number'],
  expectedInvoices: ['invoices', 'invoicecount', 'numberofinvoices'],
};
const USUAL_ORGANIZATION_HEADERS = ['realm', 'tenant', 'tenantid', 'organisation', 'organisationid', 'organizationid'];

/**
 * Returns the headers that probably mean the column: a misspelt name, or else usual names, or else names that contain
 * the name of the column.
 */
function nearMisses(name: string, headers: readonly string[]): readonly string[] {
  const misspelt = nearest(name, headers);
  if (misspelt !== undefined) return [misspelt];
  const usual = USUAL_HEADERS[name] ?? (isOrganizationField(name) ? USUAL_ORGANIZATION_HEADERS : []);
  const meant = headers.filter((header) => usual.includes(normalized(header)));
  return meant.length > 0 ? meant : headers.filter((header) => normalized(header).includes(normalized(name)));
}

function reportUnknown(file: string, unknown: readonly Cell[], unused: readonly string[], report: Report): void {
  for (const header of unknown) {
    const near = unused.find((name) => nearMisses(name, [header.text.trim()]).length > 0);
    report({
      code: 'unknown-column',
      severity: 'warning',
      ...{ file, line: header.line, column: header.column },
      message: `the column ${inQuotes(header.text.trim())} is not used`,
      advice:
        near === undefined
          ? 'remove the column if it does not belong here'
          : `rename the column to ${near} if that is what it contains`,
    });
  }
}
