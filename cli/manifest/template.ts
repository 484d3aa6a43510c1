import type { Platform, Route } from '../../platforms/platforms';
import { COMPANY_ID, CONNECTION_ID, credentialFields, credentialColumns, manifestColumns } from './columns';

/** A column of a file to fill in, for whoever fills it in. */
export interface TemplateColumn {
  readonly name: string;
  readonly required: boolean;
  readonly description: string;
}

/** A file to fill in: its columns, in the order of the file. */
export interface Template {
  readonly name: 'manifest' | 'credentials';
  readonly columns: readonly TemplateColumn[];
}

/** The files that a migration of this platform begins with: what the companies are, and apart from it what is secret. */
export function templatesOf(platform: Platform, route: Route): readonly Template[] {
  const secret = [...credentialFields(platform), 'obtainedAt'];
  const companies = manifestColumns(platform, route);
  const credentials = credentialColumns(platform);
  const described = (names: readonly string[], required: readonly string[]): readonly TemplateColumn[] =>
    names.map((name) => ({ name, required: required.includes(name), description: descriptionOf(name, platform) }));
  return [
    {
      name: 'manifest',
      columns: described(
        [...companies.required, ...companies.optional].filter((name) => !secret.includes(name)),
        companies.required,
      ),
    },
    {
      name: 'credentials',
      columns: described(
        // The manifest says the organization already.
        [...credentials.required, ...credentials.optional.filter((name) => name !== platform.organizationField)],
        credentials.required,
      ),
    },
  ];
}

function descriptionOf(name: string, { name: platform, organizationField, organizationForm }: Platform): string {
  switch (name) {
    case 'reference':
      return 'your own id of the company; each once, the same in both files';
    case 'name':
      return 'the name of the company';
    case organizationField:
      return `which organization it is at ${platform}${organizationForm ? `; ${organizationForm.says}` : ''}`;
    case 'expectedInvoices':
      return `how many invoices it has at ${platform}: fewer after the move means incomplete`;
    case 'wave':
      return 'lower waves are moved first: 1, 2, ...';
    case 'family':
      return `the ${platform} user who authorized it: companies of one are moved one after the other`;
    case COMPANY_ID:
      return 'its id at the service, if it is there already: companies are created otherwise';
    case CONNECTION_ID:
      return 'which of its connections at the service, if it has one already';
    case 'obtainedAt':
      return 'when your application received it, as 2026-03-01T14:30:00Z; otherwise the time of the file counts';
    default:
      return `as ${platform} gave it to your application`;
  }
}

export const TEMPLATE_FORMATS = ['csv', 'json'] as const;
export type TemplateFormat = (typeof TEMPLATE_FORMATS)[number];

/** Nothing in it passes for a company: it has to be filled in. */
export function templateText({ columns }: Template, format: TemplateFormat): string {
  const names = columns.map(({ name }) => name);
  if (format === 'csv') return `${names.join(',')}\n`;
  return `${JSON.stringify([Object.fromEntries(names.map((name) => [name, '']))], null, 2)}\n`;
}
