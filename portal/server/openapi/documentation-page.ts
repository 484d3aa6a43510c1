/**
 * The documentation of the API as one page of HTML. It has no script, because a script on the portal's origin could use
 * the sessions and signing keys of the people who are signed in there.
 */
import { createHash } from 'node:crypto';
import type { Api } from '../api';

const STYLE = `
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .875rem; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid #8888; border-radius: .25rem; }
h3 { margin-top: 2rem; overflow-wrap: anywhere; }
summary { cursor: pointer; }
`;

export const DOCUMENTATION_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly 'x-role'?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
  }[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: unknown }>> };
  readonly responses?: Readonly<
    Record<
      string,
      { readonly description?: string; readonly content?: Readonly<Record<string, { readonly schema?: unknown }>> }
    >
  >;
}

const WHO: Readonly<Record<string, string>> = {
  everyone: 'Everyone, without a session.',
  session: 'Everyone with a session.',
  client: 'People with a session in the role client.',
};

export function documentationPage(document: ReturnType<Api['swagger']>): string {
  const {
    info,
    tags = [],
    paths = {},
  } = document as {
    readonly info: { readonly title: string; readonly description?: string };
    readonly tags?: readonly { readonly name: string; readonly description?: string }[];
    readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const sections = tags.map(({ name, description = '' }) => {
    const own = operations.filter(({ operation }) => operation.tags?.includes(name));
    return `<h2>${html(name)}</h2>${text(description)}${own.map(operationHtml).join('')}`;
  });
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${html(info.title)}: API</title>` +
    `<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head><body><main>` +
    `<h1>${html(info.title)}: API</h1>${text(info.description ?? '')}` +
    `<p>As an OpenAPI 3.1 document: <a href="/api/openapi.json">/api/openapi.json</a></p>` +
    `${sections.join('')}</main></body></html>`
  );
}

function operationHtml({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const { summary = '', description = '', parameters = [], requestBody, responses = {} } = operation;
  const parameterItems = parameters.map(
    ({ name, in: place, required, description: about = '' }) =>
      `<li><code>${html(name)}</code> (${html(place)}${required ? ', required' : ''}) ${inline(about)}</li>`,
  );
  const answers = Object.entries(responses).map(
    ([status, { description: about = '', content = {} }]) =>
      `<li><code>${html(status)}</code> ${inline(about)}${schemasHtml(content)}</li>`,
  );
  return (
    `<h3><code>${html(method)} ${html(path)}</code></h3><p>${inline(summary)}. ${html(WHO[operation['x-role'] ?? ''] ?? '')}</p>` +
    text(description) +
    (parameterItems.length > 0 ? `<p>Parameters:</p><ul>${parameterItems.join('')}</ul>` : '') +
    (requestBody?.content ? `<p>Body:</p>${schemasHtml(requestBody.content)}` : '') +
    `<p>Answers:</p><ul>${answers.join('')}</ul>`
  );
}

function schemasHtml(content: Readonly<Record<string, { readonly schema?: unknown }>>): string {
  return Object.entries(content)
    .map(
      ([type, { schema }]) =>
        `<details><summary><code>${html(type)}</code></summary>` +
        `<pre>${html(JSON.stringify(schema, undefined, 2))}</pre></details>`,
    )
    .join('');
}

function text(markdown: string): string {
  return markdown
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('');
}

const inline = (markdown: string): string => html(markdown).replace(/`([^`]+)`/g, '<code>$1</code>');

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const html = (raw: string): string => raw.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
