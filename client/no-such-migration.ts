/** Thrown when no migration has this id, in the ledger or in Temporal. */
export class NoSuchMigration extends Error {
  override readonly name = 'NoSuchMigration';
  constructor(migrationId: string) {
    super(`there is no migration ${migrationId}`);
  }
}
