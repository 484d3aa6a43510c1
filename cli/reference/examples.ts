/** The examples of each command, for `--help` and docs/cli.md. */
import { exampleTime } from '../terminal/times';

const M = 'acme.quickbooks-online';
/** The placeholder that `examplesOf` replaces with a time in the future. */
const TIME = '<time>';

const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  up: ['ferry up'],
  setup: ['ferry setup', 'ferry setup --retention-days 90'],
  doctor: ['ferry doctor', 'ferry doctor --json'],
  'service start': ['ferry service start --port 8700', 'ferry service start --temporary --faults'],
  'service keys create': ['ferry service keys create --account Acme --role administrator'],
  'service keys list': ['ferry service keys list'],
  'service keys revoke': ['ferry service keys revoke 6f1c1f9e-1f0a-4d3e-9a53-0d6a2f1c9b11'],
  'service keys rotate': ['ferry service keys rotate 6f1c1f9e-1f0a-4d3e-9a53-0d6a2f1c9b11'],
  'export-template': [
    'ferry export-template --platform quickbooks-online',
    'ferry export-template acme --platform xero --format json',
  ],
  check: [
    'ferry check manifest.csv --platform quickbooks-online --offline',
    'ferry check manifest.csv -p quickbooks-online --credentials credentials.csv',
  ],
  start: [
    'ferry start manifest.csv --platform quickbooks-online --client acme --contact "Sam, +44 20 7946 0000"',
    'ferry start manifest.csv -p quickbooks-online --client acme --window "mon-fri 22:00-05:00 Europe/London"',
    'ferry start manifest.csv -p quickbooks-online --client acme --dry-run',
    'ferry start --manifest-later -p quickbooks-online --client acme',
  ],
  'self-service': ['ferry self-service companies.csv --platform xero --client acme --credentials credentials.csv'],
  desk: ['ferry desk'],
  list: ['ferry list', 'ferry list --json'],
  show: [`ferry show ${M}`],
  watch: [`ferry watch ${M}`, `ferry watch ${M} --until-decision`],
  'go-nogo': [`ferry go-nogo ${M}`],
  companies: [
    `ferry companies ${M} --state not-moved`,
    `ferry companies ${M} --search bramble --limit 20 --page 2`,
    `ferry companies ${M} --failure reauthorization-required --csv > reconnect.csv`,
  ],
  exceptions: [`ferry exceptions ${M}`],
  report: [`ferry report ${M} --format html > handover.html`, `ferry report ${M} --format csv > companies.csv`],
  audit: [`ferry audit ${M}`, `ferry audit ${M} --format jsonl > trail.jsonl`],
  approve: [`ferry approve ${M} supply-details`, `ferry approve ${M} schedule --as client --by Cleo`],
  'sign-off': [`ferry sign-off ${M}`, `ferry sign-off ${M} --as client --by Cleo`],
  reject: [
    `ferry reject ${M} schedule --reason "month end"`,
    `ferry reject ${M} migrate-first-company --next another-company --company C-1002 --reason "not representative"`,
  ],
  'propose-time': [
    `ferry propose-time ${M} "${TIME}" --window "mon-fri 22:00-05:00 Europe/London"`,
    `ferry propose-time ${M} now`,
  ],
  pause: [`ferry pause ${M} --reason "the platform is slow"`],
  resume: [`ferry resume ${M}`],
  cancel: [`ferry cancel ${M} --reason "the client has cancelled the project"`],
  'approver add': [
    `ferry approver add ${M} 3f0a-91c2-5b7e-d604-88a1-2c9d-e573-40bf`,
    `ferry approver add ${M} "client:Cleo:930fae9ce700114a8336c65a0a25246e12d297eb6a1063beb5e552fc981f986e"`,
  ],
  'approver remove': [
    `ferry approver remove ${M} 3f0a-91c2-5b7e-d604-88a1-2c9d-e573-40bf --reason "the phone was stolen"`,
  ],
  'first-company': [`ferry first-company ${M} C-1002`],
  'confirm-sync-disabled': [
    `ferry confirm-sync-disabled ${M} --all --as client --by Cleo`,
    `ferry confirm-sync-disabled ${M} C-1001 C-1002 --as client --by Cleo`,
    `ferry confirm-sync-disabled ${M} --wave 1 --as client --by Cleo`,
  ],
  exclude: [`ferry exclude ${M} C-1003 --reason "sold last week"`],
  retry: [`ferry retry ${M} C-1008`, `ferry retry ${M} --all`],
  relink: [`ferry relink ${M} C-1008`],
  skip: [`ferry skip ${M} C-1014 --reason "went out of business"`],
  adjust: [`ferry adjust ${M} --companies-per-minute 30`, `ferry adjust ${M} --no-window --reason "low load"`],
  manifest: [`ferry manifest ${M} manifest.csv --as client --by Cleo`],
  amend: [`ferry amend ${M} latecomers.csv`],
  application: [`ferry application ${M} --client-id my-app --environment production --as client --by Cleo`],
  seal: [
    'ferry seal credentials.csv --for migration.key',
    'ferry seal secret.txt --for migration.key --client-id ABq7yK --environment production',
  ],
  'migration-key': [`ferry migration-key ${M}`, `ferry migration-key ${M} --quiet > migration.key`],
  'vault fingerprint': ['ferry vault fingerprint'],
  credentials: [`ferry credentials ${M} credentials.csv --obtained-at now --as client --by Cleo`],
  'replace-credential': [`ferry replace-credential ${M} new-credentials.csv --by Sam`],
  'schedule show': [`ferry schedule show ${M}`, 'ferry schedule show --all'],
  'schedule pause': [`ferry schedule pause ${M} --reason "platform maintenance"`],
  'schedule resume': ['ferry schedule resume --all'],
  'schedule trigger': [`ferry schedule trigger ${M}`],
  reconcile: [`ferry reconcile ${M}`],
  sweep: ['ferry sweep', `ferry sweep --close ${M}`, 'ferry sweep --close'],
  'keys create': ['ferry keys create --by Sam'],
  'keys show': ['ferry keys show'],
  'vault rotate': ['ferry vault rotate'],
  'vault renew': [`ferry vault renew ${M}`],
  'codec-server': [
    'ferry codec-server --origin http://localhost:8233',
    'ferry codec-server --origin https://temporal.example.com --issuer https://login.example.com --audience ferry --key-set https://login.example.com/keys',
  ],
  invite: [
    `ferry invite ${M} --name Cleo --email cleo@acme.example`,
    `ferry invite ${M} --name "Finn, auditor" --role viewer --expires 12h`,
    `ferry invite ${M} --name Cleo --email cleo@acme.example --sign-in openid`,
    `ferry invite --list ${M}`,
    'ferry invite --revoke 6f1c1f9e',
  ],
  portal: [
    'ferry portal --certificate portal.crt --key portal.key --host 0.0.0.0 --port 443',
    'ferry portal --behind-proxy --trusted-proxy 10.0.0.0/8 --host 0.0.0.0',
  ],
  completion: ['ferry completion bash >> ~/.bashrc', 'ferry completion zsh >> ~/.zshrc'],
};

/**
 * Returns the examples of a command.
 *
 * @param path path of the command, for example `service keys create`
 * @param now the current time; the example time is the evening of the next day
 */
export function examplesOf(path: string, now: Date): readonly string[] {
  return (EXAMPLES[path] ?? []).map((example) => example.replace(TIME, exampleTime(now)));
}
