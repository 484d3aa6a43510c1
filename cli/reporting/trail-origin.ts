/** Recognizes the trail of another migration, although only the signed last line of an export names the migration. */
import type { TrailEntry } from '../../domain/decisions/audit-trail';
import { isSignedBy } from '../../domain/migration/signatures';
import { counted } from '../../domain/text/sentences';

/** Checks whether the signatures of applied decisions are for this migration, whoever has signed. */
export function createOriginCheck(migrationId: string) {
  let firstLine = 0;
  let signatures = 0;
  let isOfMigration = false;
  return {
    add(line: number, { signed, applied }: TrailEntry): void {
      if (!applied || !signed) return;
      firstLine ||= line;
      signatures += 1;
      isOfMigration ||= isSignedBy(signed.signature.publicKey, migrationId, signed);
    },
    /** Returns why the trail is probably of another migration; null if a signature is for this one, or if none is. */
    problem(): ReturnType<typeof ofOtherMigration> | null {
      if (signatures === 0 || isOfMigration) return null;
      const noneIs =
        signatures === 1
          ? 'the only signature of an applied decision is not'
          : `none of the ${counted(signatures, 'signature')} of applied decisions is`;
      const why = `this is probably the trail of another migration, because ${noneIs} for ${migrationId}; check the file and the migration. If the file was exported from ${migrationId}, every signed decision was changed`;
      return ofOtherMigration(firstLine, why);
    },
  };
}

/** Returns only one problem, because every other difference follows from the wrong file or the wrong migration. */
export function ofOtherMigration(line: number, why: string) {
  return { unproven: [{ line, decisionId: null, why }], notes: [], notGiven: [], unknown: [] };
}
