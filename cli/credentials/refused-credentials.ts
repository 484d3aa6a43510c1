/** Explains why credentials of a file were refused, in groups of companies with the same reason. */
import { readCompanies, readMigration, type Database, type SupplyResult, type TooEarly } from '../../store';
import { NOT_CHECKED, type CompanyState } from '../../domain/companies/company-state';
import { counted, namedCompanies } from '../../domain/text/sentences';
import type { Output } from '../terminal/output';
import { distinctTimes } from '../terminal/times';
import { clientCommand } from '../connections/client-portal';
import { confirmationCommand } from '../suggestions/confirmation-command';
import { byClientNamed } from '../suggestions/remedy-commands';
import { referenceList } from '../shared/results';

export interface RefusedGroup {
  readonly references: readonly string[];
  readonly why: string;
  /** Further lines, for example what to do. */
  readonly details: readonly string[];
}

interface Supply {
  readonly migrationId: string;
  /** The arguments that read the file ({@link fileArguments}). */
  readonly file: string;
  /** True if the file was sealed. The times in it can then not be changed. */
  readonly isSealed: boolean;
  /** The portal's address if the client signs its decisions there; null if it does not. */
  readonly portal: string | null;
}

type Command = 'credentials' | 'replace-credential';

/**
 * Groups the references of refused credentials by the reason. Reads the current states of the companies in the wrong
 * state, because the reason depends on them.
 */
export async function readRefused(
  db: Database,
  supply: Supply,
  { obtainedTooEarly, wrongState, unknown }: SupplyResult,
  command: Command,
): Promise<readonly RefusedGroup[]> {
  const groups = await tooEarlyGroups(db, supply, obtainedTooEarly);
  const byReason = new Map<string, RefusedGroup & { readonly references: string[] }>();
  const decides = wrongState.length === 0 ? '' : await replacedBy(db, supply.migrationId);
  for await (const { reference, state } of wrongState.length === 0
    ? []
    : readCompanies(db, supply.migrationId, { references: wrongState })) {
    const [why, ...details] = wrongStateText(supply, state, command, decides);
    const group = byReason.get(why) ?? { references: [], why, details };
    group.references.push(reference);
    byReason.set(why, group);
  }
  const missing = { references: unknown, why: 'the manifest has no such company', details: unknownAdvice(supply) };
  return [...groups, ...byReason.values(), missing].filter(({ references }) => references.length > 0);
}

/** Says what to do about references that the manifest does not contain. */
function unknownAdvice({ migrationId, isSealed }: Supply): readonly string[] {
  return [
    isSealed
      ? 'if a reference is wrong, the client must correct it in the original file and seal the file again'
      : 'if a reference is wrong, correct it in the file',
    `if a company is missing, add it with: ferry amend ${migrationId} companies.csv`,
  ];
}

/**
 * Returns the options with which `ferry replace-credential` decides as the client, because in self-service only the
 * client can replace credentials; empty in a managed migration.
 */
async function replacedBy(db: Database, migrationId: string): Promise<string> {
  const migration = await readMigration(db, migrationId);
  return migration?.route === 'self-service' ? ` ${byClientNamed(migration.suppliedBy)}` : '';
}

async function tooEarlyGroups(
  db: Database,
  supply: Supply,
  tooEarly: readonly TooEarly[],
): Promise<readonly RefusedGroup[]> {
  const unconfirmed = referencesOf(tooEarly.filter(({ confirmedAt }) => confirmedAt === null));
  const early = tooEarly.filter(({ confirmedAt }) => confirmedAt !== null);
  const { command, others } = await confirmationCommand(db, supply, unconfirmed);
  return [
    {
      references: unconfirmed,
      why: 'the client has not confirmed that syncing is off',
      details: [
        ...(await heldBackAdvice(db, supply, unconfirmed)),
        `once syncing is off, the client confirms it with: ${command}`,
        ...(others === null ? [] : [others]),
        'after the confirmation, export the credentials again, because the earlier tokens might no longer work',
      ],
    },
    ...exportedTooEarly(supply, early),
  ];
}

/**
 * Says what to do first about the companies that the preflight holds back; empty if there are none. The portal does not
 * offer their confirmation while all other companies are confirmed.
 */
async function heldBackAdvice(
  db: Database,
  { migrationId }: Supply,
  unconfirmed: readonly string[],
): Promise<readonly string[]> {
  const held: string[] = [];
  if (unconfirmed.length > 0)
    for await (const { reference, heldBack } of readCompanies(db, migrationId, { references: unconfirmed }))
      if (heldBack !== null && heldBack !== NOT_CHECKED) held.push(reference);
  if (held.length === 0) return [];
  const them = held.length === 1 ? 'it' : 'them';
  return [
    `the preflight holds back ${namedCompanies(held.length, held.slice(0, MAX_REFERENCES))}: before the client confirms ${them}, correct ${them} or leave ${them} out; to see why and how, run: ferry exceptions ${migrationId}`,
  ];
}

const referencesOf = (group: readonly TooEarly[]): readonly string[] => group.map(({ reference }) => reference);

function exportedTooEarly({ isSealed }: Supply, early: readonly TooEarly[]): readonly RefusedGroup[] {
  const [first] = early;
  if (!first?.confirmedAt) return [];
  const { reference, obtainedAt, confirmedAt } = first;
  const [obtained, confirmed] = distinctTimes(obtainedAt, confirmedAt);
  return [
    {
      references: referencesOf(early),
      why: 'the tokens were obtained before the client confirmed that syncing is off',
      details: [
        `${reference}: tokens obtained ${obtained}; client confirmed ${confirmed}`,
        ...(isSealed
          ? [
              'if the tokens were exported after the confirmation, the client must correct obtainedAt in the original file and seal the file again',
              'if no row contains obtainedAt, the client must specify the time of the export with --obtained-at when sealing the file',
            ]
          : [
              'if the tokens were exported after the confirmation, correct obtainedAt in the file',
              'if no row contains obtainedAt, specify the time of the export with --obtained-at',
            ]),
        'if the tokens were exported before the confirmation, export them again, because they might no longer work',
      ],
    },
  ];
}

/**
 * Returns why a company accepts no credential in this state, and what to do. The reason can explain the refusal of one
 * credential or of several.
 */
function wrongStateText(
  { migrationId, file, portal }: Supply,
  state: CompanyState,
  command: Command,
  decides: string,
): readonly [why: string, ...details: readonly string[]] {
  const replace = clientCommand(`ferry replace-credential ${migrationId} ${file}${decides}`, portal);
  switch (state) {
    case 'moved':
      return ['a company that has moved needs no credential'];
    case 'importing':
    case 'syncing':
      return [
        'a company that is being moved accepts no credential',
        `if its move fails, replace the credential with: ${replace}`,
      ];
    case 'skipped':
    case 'excluded':
      return ['a company that was left out needs no credential'];
    case 'waiting':
      if (command === 'credentials') return CHANGED;
      return [
        'a company that is waiting to be moved needs no replacement',
        `supply the new credentials with: ferry credentials ${migrationId} ${file}`,
        'the new credentials replace any that are stored',
      ];
    case 'failed':
    case 'outcome-unknown':
      if (command === 'replace-credential') return CHANGED;
      return ['a company that was tried needs a replacement', `to replace the credentials, run: ${replace}`];
  }
}

const CHANGED = [
  'the state of a company changed while its credential was being stored',
  'run the command again',
] as const;

const MAX_REFERENCES = 10;

export function printRefused(output: Output, groups: readonly RefusedGroup[]): void {
  for (const { references, why, details } of groups) {
    const list = referenceList(references, MAX_REFERENCES);
    output.line(`  ${counted(references.length, 'credential')} refused (${list}): ${why}`);
    for (const detail of details) output.line(`    ${detail}`);
  }
}
