/** The companies in the HTML report: one table per section, written one row at a time. */
import type { ReportColumn, ReportedCompany, Section } from './company-sections';
import { markup, webLink } from './html';

/** Returns the start of a section's table. `PAGE_SECTION_TAIL` is its end. */
export function pageSectionHead({ title, columns }: Section): string {
  const titles = ['Company', ...columns.filter(hasCell).map((column) => column.title)];
  return markup`<section class="companies">
<h2>${title}</h2>
<table class="companies">
<thead><tr>${titles.map((each) => markup`<th scope="col">${each}</th>`)}</tr></thead>`.text;
}

export const PAGE_SECTION_TAIL = '</table>\n</section>';

/** Returns the row of a company, with its ids in small type below. */
export function pageSectionRow({ columns, cells }: Section, company: ReportedCompany, ended: boolean): string {
  const { name, reference } = company;
  const values = cells(company, ended);
  const entries = columns.map((column, index) => ({ column, value: values[index] ?? '' }));
  const shown = entries.filter(({ column }) => hasCell(column));
  const ids = entries.filter(({ column, value }) => column.as === 'id' && value !== '');
  return markup`<tbody><tr><td><b>${name}</b> <span class="reference">${reference}</span></td>${shown.map(
    ({ column, value }) => markup`<td>${column.as === 'link' ? webLink(value) : value}</td>`,
  )}</tr><tr class="ids"><td colspan="${shown.length + 1}">${ids.map(
    ({ column, value }) => markup`<span>${column.title} <code>${value}</code></span> `,
  )}</td></tr></tbody>`.text;
}

const hasCell = ({ as }: ReportColumn): boolean => as !== 'id' && as !== 'company';
