import type { Finding } from '../../domain/companies/finding';
import type { Preflight } from '../../domain/migration/migration-state';
import type { FindingList } from '../manifest';
import type { Output, TableCell } from '../terminal';

/** Of findings that are alike, this many are shown to people; programs get more. */
const SHOWN_OF_A_KIND = 5;

/** Findings as programs get them: of what is alike, the first, and how many there are. */
export function findingsJson({ listed, errors, warnings }: FindingList) {
  const unlisted = errors + warnings - listed.length;
  return { findings: listed, ...(unlisted === 0 ? {} : { findingsNotListed: unlisted }) };
}

/** Shows findings to a person: file by file, in the order of the lines. */
export function printFindings(output: Output, findings: FindingList): void {
  for (const [file, ofFile] of groupedBy(findings.listed, ({ file = 'Account and other migrations' }) => file)) {
    const kinds = groupedBy(ofFile, ({ code, severity, field }) => `${code} ${severity} ${field}`);
    const shown = [...kinds.values()].flatMap((kind) => kind.slice(0, SHOWN_OF_A_KIND));
    output.line(output.styled('bold', file));
    output.table(
      [
        { title: '' },
        { title: 'Line', align: 'right' },
        { title: 'Column' },
        { title: 'What' },
        { title: 'What to do' },
      ],
      shown.sort(byPlace).map(rowOf),
    );
    for (const [first] of kinds.values()) {
      const left = (first ? findings.alike(first) : 0) - SHOWN_OF_A_KIND;
      if (left > 0) output.line(`and ${left.toLocaleString('en-US')} more like: ${first?.message}`);
    }
    output.line();
  }
}

/** Shows what a worker's check found, and keeps: one sentence for each kind. */
export function printPreflight(output: Output, { problems, warnings }: Preflight): void {
  for (const problem of problems) output.line(`  ${output.styled('red', '✗')} ${problem}`);
  for (const warning of warnings) output.line(`  ${output.styled('yellow', '!')} ${warning}`);
}

function rowOf({ severity, line, column, field, message, advice }: Finding): TableCell[] {
  return [
    { text: severity, style: severity === 'error' ? 'red' : 'yellow' },
    line === undefined ? '' : String(line),
    [column, field].filter((part) => part !== undefined).join(' '),
    message,
    advice,
  ];
}

const byPlace = (a: Finding, b: Finding): number => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);

function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
