/** Markdown tables that hold what people wrote. */

/** In a table a bar would end the cell, a line break the row. */
export function cell(text: string): string {
  return text.replace(/\|/g, '\\|').replace(/\s+/g, ' ');
}

export function tableRow(cells: readonly string[]): string {
  return `| ${cells.map(cell).join(' | ')} |`;
}

/** A heading and the head of the table below it. */
export function tableHead(title: string, columns: readonly string[]): string {
  return [`## ${title}`, '', tableRow(columns), `|${'---|'.repeat(columns.length)}`].join('\n');
}
