/** The examples of the commands of `ferry --portal`, for `--help` and docs/cli.md. */
import { exampleTime } from '../terminal/times';

const FERRY = 'ferry --portal https://portal.example';
/** Stands for a time in the future. */
const TIME = '<time>';

const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'sign-in': ["ferry --portal 'https://portal.example/#invitation=...' sign-in", `${FERRY} sign-in`],
  'sign-out': [`${FERRY} sign-out`],
  list: [`${FERRY} list`],
  show: [`${FERRY} show`, `${FERRY} show acme.quickbooks-online`],
  watch: [`${FERRY} watch`, `${FERRY} watch --until-decision`],
  companies: [
    `${FERRY} companies --state must-reconnect`,
    `${FERRY} companies --search bramble`,
    `${FERRY} companies --csv > companies.csv`,
  ],
  exceptions: [`${FERRY} exceptions`],
  report: [`${FERRY} report --format html > handover.html`],
};

export function portalExamplesOf(path: string, now: Date): readonly string[] {
  return (EXAMPLES[path] ?? []).map((example) => example.replace(TIME, exampleTime(now)));
}
