/** Manages the accounts and API keys of a Company Data Service, for its operator. */
import { createAccount, createKey, listAccounts, type Account, type CreatedKey } from '../../company-data-service';

export { listKeys, NewerSchema, revokeKey, rotateKey, type ApiKey, type CreatedKey } from '../../company-data-service';

export interface KeyRequest {
  /** Name or id of an account. If it is unknown, an account with this name is created. */
  account: string;
  /** Plan of a new account. Default: paid. */
  plan?: Account['plan'] | undefined;
  role: 'client' | 'administrator';
}

/** Thrown when several accounts have the requested name, or the account does not have the requested plan. */
export class AccountMismatch extends Error {
  override readonly name = 'AccountMismatch';

  /** @param advice what the caller can do */
  constructor(
    message: string,
    readonly advice: string,
  ) {
    super(message);
  }
}

/**
 * Creates a key. If its account does not exist, creates the account first.
 *
 * @throws {@link AccountMismatch}
 */
export async function createKeyFor(databaseUrl: string, { account, plan, role }: KeyRequest): Promise<CreatedKey> {
  const found = (await listAccounts(databaseUrl)).filter(({ id, name }) => id === account || name === account);
  const [known, another] = found;
  if (another) {
    throw new AccountMismatch(
      `${found.length} accounts are named ${account}`,
      `specify the id of one of these accounts with --account: ${found.map(({ id }) => id).join(', ')}`,
    );
  }
  if (known && plan !== undefined && plan !== known.plan) {
    throw new AccountMismatch(
      `the account ${account} already exists, with the plan "${known.plan}"`,
      'leave out --plan, which is only for new accounts, or specify another account; list the accounts with: ferry service keys list',
    );
  }
  const accountId = known?.id ?? (await createAccount(databaseUrl, { name: account, plan: plan ?? 'paid' }));
  return createKey(databaseUrl, { accountId, role });
}
