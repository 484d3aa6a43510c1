/** The accounts and keys of a Company Data Service, as whoever runs it manages them. */
import { createAccount, createKey, listAccounts, type Account, type CreatedKey } from '../../company-data-service';

export { listKeys, retireKey, rotateKey, type ApiKey, type CreatedKey } from '../../company-data-service';

export interface KeyRequest {
  /** An account's name or id. An account of a new name is created. */
  account: string;
  /** Of a new account. Default: paid. */
  plan?: Account['plan'] | undefined;
  role: 'client' | 'administrator';
}

/** The account cannot be meant: it has another plan, or its name is not the only one. */
export class AccountUnclear extends Error {
  override readonly name = 'AccountUnclear';
}

/**
 * Creates a key, and its account if there is none of that name.
 *
 * @throws {@link AccountUnclear}
 */
export async function createKeyFor(databaseUrl: string, { account, plan, role }: KeyRequest): Promise<CreatedKey> {
  const found = (await listAccounts(databaseUrl)).filter(({ id, name }) => id === account || name === account);
  const [known, another] = found;
  if (another) {
    throw new AccountUnclear(`${found.length} accounts are called ${account}: ${found.map(({ id }) => id).join(', ')}`);
  }
  if (known && plan !== undefined && plan !== known.plan) {
    throw new AccountUnclear(`the account ${account} has the plan ${known.plan}`);
  }
  const accountId = known?.id ?? (await createAccount(databaseUrl, { name: account, plan: plan ?? 'paid' }));
  return createKey(databaseUrl, { accountId, role });
}
