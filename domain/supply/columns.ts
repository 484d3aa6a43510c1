import type { Platform, Route } from '../../platforms/platforms';
import { eitherOf } from '../text/sentences';
import { shellQuoted } from '../text/shell-quoted';
import { inQuotes, type Report } from './findings';
import {
  headersOfOtherPlatforms,
  isOrganizationField,
  nearMisses,
  normalized,
  renameText,
  suggestedHeaders,
} from './header-suggestions';

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
  readonly platform: Platform;
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

/** Maps short names of the id columns to their full names, except names of the platform's own fields. */
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
    platform,
  };
}

export function credentialColumns(platform: Platform): Columns {
  const organization = platform.organizationField;
  return {
    required: ['reference', ...platform.requiredFields],
    optional: [...new Set([organization, ...platform.optionalFields, 'obtainedAt'])],
    ignored: COMPANY_FIELDS,
    aliases: { organization, ...shortNames(platform) },
    platform,
  };
}

/** The cells of one row by column name. Columns that the file does not have are absent. */
export type CellsByField = ReadonlyMap<string, Cell>;

/**
 * Matches the headers of a file to known columns. Ignores case, spaces, hyphens and underscores.
 *
 * @returns a function that returns the cells of a row by column name; null if a required column is missing or a
 * column is ambiguous, which is reported
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
        advice: 'use only one of them',
      });
    }
  });

  if (found.size === 0) {
    reportNoHeader(file, columns, report);
    return null;
  }
  const missing = columns.required.filter((name) => !found.has(name));
  const ofCredential = credentialFields(columns.platform);
  const foreign = ofCredential.filter((name) => found.has(name) && isOrganizationField(name));
  const isManifest =
    columns.ignored.some((name) => found.has(name)) &&
    missing.some((name) => ofCredential.includes(name)) &&
    !ofCredential.some((name) => found.has(name));
  const areCredentials =
    missing.includes('name') &&
    columns.platform.requiredFields.every((name) => found.has(name)) &&
    !COMPANY_FIELDS.some((name) => found.has(name));
  const mistaken = isManifest ? NO_CREDENTIALS : areCredentials ? noManifest(file) : null;
  const explained =
    missing.length > 0
      ? reportMissing({ file, headers, report }, missing, unknown, { columns, foreign, mistaken })
      : [];
  reportUnknown(
    file,
    unknown.filter(({ text }) => !explained.includes(text.trim())),
    [...columnByHeader.values()].filter((name) => !found.has(name) && !missing.includes(name)),
    report,
  );
  if (missing.length > 0 || !isUnambiguous) return null;
  const unusable = reportIncompleteCredential({ file, headers, report }, columns.platform, found);
  for (const name of unusable) found.delete(name);

  return ({ cells }) =>
    new Map([...found].flatMap(([name, index]) => (cells[index] ? [[name, cells[index]] as const] : [])));
}

/** The advice about a manifest that was chosen as the file of credentials. */
const NO_CREDENTIALS = 'this is a manifest without credentials, so use the file that contains the credentials';
/** The advice about a file of credentials that was chosen as the manifest. */
const noManifest = (file: string): string =>
  `this looks like a file of credentials, so use the manifest; pass this file with --credentials or, once the migration has started, supply it with: ferry credentials "id of the migration" ${shellQuoted(file)}; in the portal, use "Supply credentials"`;

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

/** Returns `the column a` or `the columns a, b and c`. */
function columnsText(names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  if (names.length < 2) return `the column ${last}`;
  return `the columns ${names.slice(0, -1).join(', ')} and ${last}`;
}

interface Place {
  readonly file: string;
  readonly headers: readonly Cell[];
  readonly report: Report;
}

/**
 * Reports missing columns. Returns the unknown headers that led to the advice.
 *
 * @param foreign the found columns that are credential fields on this platform, but the organization on another
 * @param mistaken says what to do if the file looks like one of the other kind; null if it does not
 */
function reportMissing(
  { file, headers, report }: Place,
  missing: readonly string[],
  unknown: readonly Cell[],
  found: { readonly columns: Columns; readonly foreign: readonly string[]; readonly mistaken: string | null },
): readonly string[] {
  const { columns, foreign, mistaken } = found;
  const names = headers.map(({ text }) => text.trim()).filter((text) => text !== '');
  const unused = unknown.map(({ text }) => text.trim());
  const lacksOrganization = missing.includes(columns.platform.organizationField);
  const others = lacksOrganization ? headersOfOtherPlatforms(unused) : [];
  const near = suggestedHeaders(missing, unused);
  const renamed = missing.flatMap((name) => (near.has(name) ? renameText(name, near.get(name) ?? []) : []));
  const absent = missing.filter((name) => !near.has(name));
  const added = [...renamed, ...(absent.length === 0 ? [] : [`add ${columnsText(absent)}`])].join('; ');
  const change = mistaken !== null && renamed.length === 0 ? `${mistaken}; or ${added}` : added;
  const { name: platform, organizationField } = columns.platform;
  const advice =
    lacksOrganization && foreign.length > 0
      ? `${platform} needs ${organizationField} as well as ${foreign.join(' and ')}; ${change}`
      : change;
  report({
    code: 'missing-column',
    severity: 'error',
    ...{ file, line: headers[0]?.line ?? 1 },
    message: `missing columns: ${missing.join(', ')}; found: ${names.map((name) => inQuotes(name)).join(', ')}`,
    advice:
      others.length > 0
        ? `this looks like a file for ${eitherOf(others.flatMap(({ platforms }) => platforms))}, so check the platform; if ${platform} is right, ${change}`
        : advice,
  });
  return [...[...near.values()].flat(), ...others.map(({ header }) => header)];
}

/**
 * Reports once that columns of a credential are missing, because every row would otherwise have an error for each of
 * them. Returns the columns that then cannot be used.
 */
function reportIncompleteCredential(
  { file, headers, report }: Place,
  platform: Platform,
  found: ReadonlyMap<string, number>,
): readonly string[] {
  const all = credentialFields(platform);
  const present = all.filter((name) => found.has(name));
  const missing = all.filter((name) => platform.requiredFields.includes(name) && !found.has(name));
  if (present.length === 0 || missing.length === 0) return [];
  const place = { file, line: headers[0]?.line ?? 1 };
  const names = columnsText(present.map((name) => inQuotes(headers[found.get(name) ?? 0]?.text.trim() ?? name)));
  const [is, it] = present.length === 1 ? ['is', 'it'] : ['are', 'them'];
  // Without a token column, the file describes only companies, so a warning is enough.
  if (present.some((name) => /token$/i.test(name)))
    report({
      ...{ code: 'missing-column', severity: 'error', ...place },
      message: `this file has ${names} but not ${columnsText(missing)}, which a credential of ${platform.name} needs`,
      advice: `add ${columnsText(missing)}, or remove ${names} and supply the credentials in a separate file`,
    });
  else
    report({
      ...{ code: 'unknown-column', severity: 'warning', ...place },
      message: `${names} ${is} not used, because this file has no credentials`,
      advice: `supply ${it} in the file of credentials`,
    });
  return present;
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
