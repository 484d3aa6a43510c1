import type { RestoredDecision } from '../../domain/migration/reconciliation';
import type { StoredMigration } from '../../store';
import { clientCommand } from '../shared/client-portal';
import { BY_CLIENT, clientRemedyCommand } from '../shared/remedy-commands';

interface LostIn {
  readonly decisions: readonly Pick<RestoredDecision, 'kind' | 'wasRefused' | 'isPartial'>[];
  readonly refused: readonly Pick<RestoredDecision, 'kind'>[];
}

/**
 * Returns the lines about files that were supplied after the backup of a ledger. The decisions only announce the files,
 * which were stored in the ledger, so the files cannot be restored. The ledger refuses a manifest whose rows it does not
 * have.
 *
 * @param portal the portal's address; null if the client does not sign in the portal
 * @returns no lines if no file was lost
 */
export function lostFileLines(
  { decisions, refused }: LostIn,
  migration: Pick<StoredMigration, 'id' | 'route' | 'suppliedBy' | 'platformKey'>,
  portal: string | null,
): readonly string[] {
  const target = { ...migration, application: null };
  const files: readonly (readonly [string, string, string])[] = [
    [
      'manifest-supplied',
      'the manifest, before support has accepted the details',
      `ferry manifest ${migration.id} companies.csv ${BY_CLIENT}`,
    ],
    ['manifest-amended', 'rows of the manifest', clientRemedyCommand('amend', target, [])],
    ['credentials-supplied', 'credentials', clientRemedyCommand('credentials', target, [])],
    ['replace-credential', 'replacements of credentials', clientRemedyCommand('replace-credential', target, [])],
  ];
  const isLost = ({ kind, wasRefused, isPartial }: LostIn['decisions'][number]): boolean =>
    kind === 'manifest-amended' ? !wasRefused : isPartial === true;
  const kinds = [...decisions.filter(isLost), ...refused.filter(({ kind }) => kind === 'manifest-supplied')];
  const lost = files.filter(([kind]) => kinds.some((each) => each.kind === kind));
  if (lost.length === 0) return [];
  return [
    'Files that were supplied after the backup cannot be restored. Supply them again, or have the client supply them:',
    ...lost.map(([, what, command]) => `  ${what}: ${clientCommand(command, portal)}`),
  ];
}
