/** Parts of the dialogs in which a person chooses a file: links to templates, and the findings of the check. */
import type { Finding } from '../../../domain/companies/finding';
import type { FindingList } from '../../../domain/supply/findings';
import { templatesOf, templateText, type Template } from '../../../domain/supply/template';
import { counted } from '../../../domain/text/sentences';
import { findPlatform } from '../../../platforms/platforms';
import type { App } from '../app';
import { sentence } from '../elements/dialog';
import { button, el, hint, paragraph, points, type Child } from '../elements/elements';
import type { AccentedValue } from './row-file';

/** Maximum number of findings of one kind that the page shows. */
const SHOWN_PER_KIND = 5;

const ACCENTED_SHOWN = 10;

/** Shows the values with non-ASCII characters of a Windows-1252 file. Only a person can see whether they are right. */
export function accentedList(accented: readonly AccentedValue[] | null): readonly Child[] {
  if (accented === null || accented.length === 0) return [];
  const more = accented.length - ACCENTED_SHOWN;
  return [
    paragraph('The page has read the file as Windows-1252. Check that these values are correct:'),
    points(
      ...accented.slice(0, ACCENTED_SHOWN).map(({ line, text }) => `Line ${line}: ${text}`),
      ...(more > 0 ? [`and ${more.toLocaleString('en-US')} more`] : []),
    ),
  ];
}

/** Returns buttons that download an empty file to fill in. */
export function templateLinks(app: App, which: Template['name']): readonly Child[] {
  const platform = findPlatform(app.view().platform.key);
  const template = platform && templatesOf(platform, app.view().route).find(({ name }) => name === which);
  if (template === undefined) return [];
  return (['csv', 'json'] as const).flatMap((format) => [
    button(
      `Template as ${format.toUpperCase()}`,
      () => download(`${which}.${format}`, templateText(template, format)),
      {
        class: 'small',
      },
    ),
    ' ',
  ]);
}

function download(name: string, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  el('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1_000);
}

/** Returns the first findings of each kind, with their lines and columns, the errors first. */
export function findingsList(findings: FindingList): readonly Child[] {
  const lines = findings
    .firstOfEachKind(SHOWN_PER_KIND)
    .flatMap(({ shown, hidden }) => [...shown.map(findingLine), ...moreLine(shown.at(-1), hidden)]);
  return [
    findings.warnings > 0 && hint(counted(findings.warnings, 'warning')),
    lines.length > 0 &&
      el('ul', { class: 'findings', tabindex: 0, 'aria-label': 'Errors and warnings in the file' }, ...lines),
  ];
}

function moreLine(last: Finding | undefined, hidden: number): readonly HTMLElement[] {
  if (last === undefined || hidden === 0) return [];
  const like = last.line === undefined ? 'the line above' : `line ${last.line}`;
  return [el('li', { class: last.severity }, `and ${hidden.toLocaleString('en-US')} more like ${like}`)];
}

function findingLine({ severity, line, column, field, message, advice }: Finding): HTMLElement {
  const place = [
    line !== undefined && `line ${line}`,
    column !== undefined && `column ${column}`,
    field !== undefined && field,
  ].filter((each) => each !== false);
  return el(
    'li',
    { class: severity },
    el(
      'strong',
      {},
      `${severity === 'error' ? 'Error' : 'Warning'}${place.length > 0 ? `, ${place.join(', ')}` : ''}: `,
    ),
    sentence(message),
    el('span', { class: 'hint' }, ` ${sentence(advice)}`),
  );
}
