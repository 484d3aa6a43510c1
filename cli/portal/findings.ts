import type { FindingList } from '../manifest';
import { printFindings } from '../shared/results';
import type { Output } from '../terminal';

/** Prints the findings in a file. */
export function printPortalFindings(output: Output, findings: FindingList): void {
  printFindings(output, findings, 'add --json');
}
