/** HTML in which nothing that people wrote can be more than text. */

/** Text that is HTML already. Only `markup` makes it, so that nothing else reaches a page unescaped. */
export class Html {
  private constructor(readonly text: string) {}

  /** @param text written here, not by a client */
  static trusted(text: string): Html {
    return new Html(text);
  }

  toString(): string {
    return this.text;
  }
}

type Insertable = string | number | Html | readonly Html[];

/** A template whose values are escaped unless they are HTML. Attributes have to be quoted. */
export function markup(strings: TemplateStringsArray, ...values: readonly Insertable[]): Html {
  return Html.trusted(String.raw({ raw: strings }, ...values.map(inserted)));
}

function inserted(value: Insertable): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return escaped(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control characters, which no page may hold, become spaces. */
function escaped(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, ' ').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** A link where the address is one of the web, otherwise its text. */
export function webLink(address: string): Html {
  const { protocol } = URL.canParse(address) ? new URL(address) : { protocol: '' };
  if (protocol !== 'https:' && protocol !== 'http:') return markup`${address}`;
  return markup`<a href="${address}" rel="noreferrer noopener">${address}</a>`;
}
