import { hasInvoices, type Platform, type Route } from '../../platforms/platforms';
import { COMPANY_ID, CONNECTION_ID, credentialFields, credentialColumns, manifestColumns } from './columns';

/** A column of a template, with an explanation for the person who fills it in. */
export interface TemplateColumn {
  readonly name: string;
  readonly required: boolean;
  readonly description: string;
}

/** An empty file for a client to fill in. */
export interface Template {
  readonly name: 'manifest' | 'credentials';
  readonly columns: readonly TemplateColumn[];
}

/** Returns the templates for a platform: one for the companies, and a separate one for their credentials. */
export function templatesOf(platform: Platform, route: Route): readonly Template[] {
  const omitted = [...credentialFields(platform), 'obtainedAt', ...(hasInvoices(platform) ? [] : ['expectedInvoices'])];
  const companies = manifestColumns(platform, route);
  const credentials = credentialColumns(platform);
  const described = (names: readonly string[], required: readonly string[]): readonly TemplateColumn[] =>
    names.map((name) => ({ name, required: required.includes(name), description: descriptionOf(name, platform) }));
  return [
    {
      name: 'manifest',
      columns: described(
        [...companies.required, ...companies.optional].filter((name) => !omitted.includes(name)),
        companies.required,
      ),
    },
    {
      name: 'credentials',
      columns: described(
        // Omits the organization if it is not required here, because it is already in the manifest.
        [...credentials.required, ...credentials.optional.filter((name) => name !== platform.organizationField)],
        credentials.required,
      ),
    },
  ];
}

function descriptionOf(name: string, { name: platform, organizationField, organizationForm }: Platform): string {
  switch (name) {
    case 'reference':
      return 'your own id for the company: unique, and the same in the manifest and in the file of credentials';
    case 'name':
      return 'the name of the company';
    case organizationField:
      return `the company's organization at ${platform}${organizationForm ? `; ${organizationForm.description}` : ''}`;
    case 'expectedInvoices':
      return `the number of the company's invoices at ${platform}; if there are fewer after the move, the company counts as incomplete`;
    case 'wave':
      return 'companies of lower waves are moved first: 1, 2, ...';
    case 'family':
      return `the ${platform} user who authorized the company; companies of one user are moved one at a time`;
    case COMPANY_ID:
      return 'the id of the company at the service; if empty, a new company is created';
    case CONNECTION_ID:
      return "the id of the company's connection at the service, if it already has a connection";
    case 'obtainedAt':
      return 'the time when your application received the token, e.g. 2026-03-01T14:30:00Z. If this is empty, Tokenferry uses the time that you state when you supply the file or, if you state none, the time when the file was last changed';
    default:
      return `the value that your application received from ${platform}`;
  }
}

export const TEMPLATE_FORMATS = ['csv', 'json'] as const;
export type TemplateFormat = (typeof TEMPLATE_FORMATS)[number];

/** Returns the text of an empty file. `ferry check` rejects the file until it has been filled in. */
export function templateText({ columns }: Template, format: TemplateFormat): string {
  const names = columns.map(({ name }) => name);
  if (format === 'csv') return `${names.join(',')}\n`;
  return `${JSON.stringify([Object.fromEntries(names.map((name) => [name, '']))], null, 2)}\n`;
}
