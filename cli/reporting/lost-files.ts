import type { RefusedDecision, RestoredDecision } from '../../domain/migration/reconciliation';
import type { StoredMigration } from '../../store';
import { clientCommand } from '../connections/client-portal';
import { BY_CLIENT, clientRemedyCommand } from '../suggestions/remedy-commands';

interface LostIn {
  readonly decisions: readonly Pick<RestoredDecision, 'kind' | 'wasRefused' | 'isPartial'>[];
  readonly refused: readonly Pick<RefusedDecision, 'supplyWith'>[];
}

/**
 * Returns the lines about files that were supplied after the backup of a ledger. The decisions only announce the files,
 * which were stored in the ledger, so the files cannot be restored.
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
  const amend = clientRemedyCommand('amend', target, []);
  const files: readonly (readonly [string, string, string])[] = [
    [
      'manifest-supplied',
      'the manifest, as long as support has not accepted the details',
      `ferry manifest ${migration.id} companies.csv ${BY_CLIENT}`,
    ],
    ['manifest-supplied', 'the manifest, once support has accepted the details', amend],
    ['manifest-amended', 'rows of the manifest', amend],
    [
      'credentials-supplied',
      'credentials of companies that have not moved',
      clientRemedyCommand('credentials', target, []),
    ],
    ['replace-credential', 'replacements of credentials', clientRemedyCommand('replace-credential', target, [])],
  ];
  const isLost = ({ kind, wasRefused, isPartial }: LostIn['decisions'][number]): boolean =>
    kind === 'manifest-amended' ? !wasRefused : isPartial === true;
  const kinds = [
    ...decisions.filter(isLost).map(({ kind }) => kind),
    ...refused.flatMap(({ supplyWith }) => (supplyWith ? [KIND_OF[supplyWith]] : [])),
  ];
  const lost = files.filter(([kind]) => kinds.includes(kind));
  if (lost.length === 0) return [];
  return [
    'Files that were supplied after the backup cannot be restored. Supply them again, or have the client supply them:',
    ...lost.map(([, what, command]) => `  ${what}: ${clientCommand(command, portal)}`),
  ];
}

/** The kinds of decisions that `ferry manifest` and `ferry amend` send. */
const KIND_OF = { manifest: 'manifest-supplied', amend: 'manifest-amended' } as const;
