/** HTML templates that escape every value, so that text from a client cannot become markup. */
import { withoutUnsafeCharactersInMultilineText } from '../../domain/text/untrusted-text';

/** Text that is already HTML. `markup` inserts it unescaped, and escapes everything else. */
export class Html {
  private constructor(readonly text: string) {}

  /** @param text HTML from this repository, never from a client */
  static trusted(text: string): Html {
    return new Html(text);
  }

  toString(): string {
    return this.text;
  }
}

type Insertable = string | number | Html | readonly Html[];

/** Fills in a template, and escapes every value that is not `Html`. Attributes must be quoted. */
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

/** Escapes text. Unsafe characters become spaces: they can mislead readers, and HTML forbids control characters. */
function escaped(text: string): string {
  return withoutUnsafeCharactersInMultilineText(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** Returns a link if the address is http(s), otherwise the text, because another scheme could run a script. */
export function webLink(address: string): Html {
  const { protocol } = URL.canParse(address) ? new URL(address) : { protocol: '' };
  if (protocol !== 'https:' && protocol !== 'http:') return markup`${address}`;
  return markup`<a href="${address}" rel="noreferrer noopener">${address}</a>`;
}
