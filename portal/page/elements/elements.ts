/** Creates elements. Every text becomes a text node, never markup, because people and the service write the texts. */
export type Child = Node | string | false | null | undefined;

type Attribute = string | number | boolean | ((event: Event) => void) | undefined;

/**
 * Creates an element. An attribute whose value is a function, for example `onclick`, adds an event listener. The value
 * true sets the attribute without a value.
 */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...present(children));
  return element;
}

const present = (children: readonly Child[]) => children.filter((child) => child != null && child !== false);

/** Replaces the content of an element. */
export const fill = (element: HTMLElement, children: readonly Child[]): void =>
  element.replaceChildren(...present(children));

export const paragraph = (...children: readonly Child[]) => el('p', {}, ...children);

/** Creates a paragraph in smaller, paler letters. */
export const hint = (...children: readonly Child[]) => el('p', { class: 'hint' }, ...children);

export const buttonRow = (...buttons: readonly Child[]) => el('div', { class: 'buttons' }, ...buttons);

/** Creates a list with one point for each text. */
export const points = (...texts: readonly string[]) =>
  el('ul', { class: 'points' }, ...texts.map((text) => el('li', {}, text)));

/** Creates a labelled input. */
export const field = (label: string, input: HTMLElement, ...more: readonly Child[]) =>
  el('div', { class: 'field' }, el('label', { for: input.id }, label), input, ...more);

/** Creates the parts of a form that a dialog disables while it sends. Only screen readers announce the name. */
export const fieldset = (name: string, ...children: readonly Child[]) =>
  el('fieldset', {}, el('legend', { class: 'unseen' }, name), ...children);

/** Creates a button that is not a submit button. */
export function button(text: string, onclick: () => void, attributes: Readonly<Record<string, Attribute>> = {}) {
  return el('button', { type: 'button', ...attributes, onclick }, text);
}

/** Returns the element of index.html with this id. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`there is no element #${id}`);
  return element;
}

/** Creates a link that opens in a new tab, or only its text if the address does not begin with http:// or https://. */
export function externalLink(address: string, text = address): HTMLElement {
  return /^https?:\/\//i.test(address)
    ? el('a', { href: address, target: '_blank', rel: 'noopener noreferrer' }, text)
    : el('span', {}, text);
}

/**
 * Returns a function that renders a part of the page, but only if the shown data has changed. It keeps the focus and
 * unfolded details, so that live data does not disturb readers or people who use a keyboard.
 */
export function createRenderer(): <Shown>(
  container: HTMLElement,
  shown: Shown,
  render: (shown: Shown) => readonly Child[],
) => void {
  const last = new Map<HTMLElement, string>();
  return (container, shown, render) => {
    const text = JSON.stringify(shown);
    if (last.get(container) === text) return;
    last.set(container, text);
    const focused = container.contains(document.activeElement) ? document.activeElement : null;
    const label = focused?.textContent;
    const unfolded = new Set(
      [...container.querySelectorAll('details[open] > summary')].map((each) => each.textContent),
    );
    fill(container, render(shown));
    for (const summary of container.querySelectorAll('details > summary'))
      if (unfolded.has(summary.textContent)) summary.parentElement?.setAttribute('open', '');
    if (focused === null) return;
    const again = [...container.querySelectorAll<HTMLElement>('button, a, summary')].find(
      (each) => each.textContent === label,
    );
    again?.focus();
  };
}

/** Creates a button that copies a text. The button shows for two seconds whether the text was copied. */
export function copyButton(text: string, label: string, what: string): HTMLButtonElement {
  const copy: HTMLButtonElement = button(label, () => {
    void navigator.clipboard.writeText(text).then(
      () => show('Copied'),
      () => show('Not copied'),
    );
  });
  copy.setAttribute('aria-label', `${label}: ${what}`);
  copy.classList.add('small');
  const show = (result: string): void => {
    copy.textContent = result;
    announce(result);
    setTimeout(() => (copy.textContent = label), 2_000);
  };
  return copy;
}

/** Announces a text to people who use a screen reader. */
export function announce(text: string): void {
  byId('announcer').textContent = text;
}
