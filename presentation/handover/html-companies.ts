/** The companies in the HTML report: one table per section, written one row at a time. */
import type { ReportColumn, ReportedCompany, ReportView, Section } from './company-sections';
import { markup, webLink } from './html';

/** Returns the start of a section's table. `PAGE_SECTION_TAIL` is its end. */
export function pageSectionHead({ id, title, note, columns }: Section): string {
  const shown = columns.filter(hasCell);
  return markup`<section class="companies" id="${id}">
<h2>${title}</h2>
${note === undefined ? '' : markup`<p class="note">${note}</p>`}
<table class="companies cards">
<colgroup><col class="company">${shown.map(({ as }) => markup`<col class="${as ?? 'text'}">`)}</colgroup>
<thead><tr><th scope="col">Company</th>${shown.map(({ title: each, as }) => markup`<th scope="col" class="${as ?? 'text'}">${each}</th>`)}</tr></thead>
<tbody>`.text;
}

export const PAGE_SECTION_TAIL = '</tbody>\n</table>\n</section>';

/** Returns the row of a company. A narrow screen shows it as a card, with the titles of the columns as labels. */
export function pageSectionRow({ columns, cells }: Section, company: ReportedCompany, view: ReportView): string {
  const { name, reference } = company;
  const values = cells(company, view);
  const shown = columns
    .map((column, index) => ({ column, value: values[index] ?? '' }))
    .filter(({ column }) => hasCell(column));
  return markup`<tr><th scope="row">${name} <span class="reference">${reference}</span></th>${shown.map(
    ({ column: { title, as }, value }) =>
      markup`<td data-label="${title}" class="${as ?? 'text'}">${as === 'link' ? webLink(value) : value}</td>`,
  )}</tr>`.text;
}

const hasCell = ({ as }: ReportColumn): boolean => as !== 'company';
