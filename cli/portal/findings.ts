import type { FindingList } from '../manifest';
import { printFindings } from '../shared/results';
import type { Output } from '../terminal';

/** Prints the findings in a file. With a portal, `ferry` has no command `check`. */
export function printPortalFindings(output: Output, findings: FindingList): void {
  printFindings(output, findings, 'use ferry check without --portal, but with --offline and --all-findings');
}
