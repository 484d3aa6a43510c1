/** The examples of the commands of `ferry --portal`, for `--help` and docs/cli.md. */
import { exampleTime } from '../terminal/times';

const FERRY = 'ferry --portal https://portal.example';
/** The placeholder that `portalExamplesOf` replaces with a time in the future. */
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
  approve: [`${FERRY} approve`, `${FERRY} approve schedule --yes`],
  'sign-off': [`${FERRY} sign-off`],
  reject: [`${FERRY} reject complete-migration --reason "two companies are missing"`],
  'propose-time': [
    `${FERRY} propose-time "${TIME}"`,
    `${FERRY} propose-time "${TIME}" --window "mon-fri 22:00-05:00 Europe/London"`,
  ],
  adjust: [`${FERRY} adjust --window "mon-fri 22:00-05:00 Europe/London"`],
  pause: [`${FERRY} pause --reason "month end"`],
  resume: [`${FERRY} resume`],
  cancel: [`${FERRY} cancel --reason "the project was stopped"`],
  'confirm-sync-disabled': [`${FERRY} confirm-sync-disabled --all`, `${FERRY} confirm-sync-disabled --wave 1`],
  exclude: [`${FERRY} exclude C-1003 --reason "sold last week"`],
  retry: [`${FERRY} retry C-1008`],
  relink: [`${FERRY} relink C-1008`],
  skip: [`${FERRY} skip C-1014 --reason "went out of business"`],
  manifest: [`${FERRY} manifest manifest.csv`],
  application: [
    `${FERRY} application --client-id ABq7yK --environment production`,
    `${FERRY} application --sealed secret.txt.sealed`,
  ],
  credentials: [
    `${FERRY} credentials credentials.csv --obtained-at now`,
    `${FERRY} credentials credentials.csv.sealed`,
  ],
  'replace-credential': [`${FERRY} replace-credential new-credentials.csv`],
  seal: [`${FERRY} seal credentials.csv`],
  report: [`${FERRY} report --format html > handover.html`],
};

export function portalExamplesOf(path: string, now: Date): readonly string[] {
  return (EXAMPLES[path] ?? []).map((example) => example.replace(TIME, exampleTime(now)));
}
