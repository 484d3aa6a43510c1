import { sql } from 'kysely';
import { executing } from '../../../postgres/schema-migrations';

export const namesOfOfficialClients = executing(
  // Client libraries of comparable services call this data type `chartOfAccounts`, not `accounts`.
  sql`update data_sets set data_type = 'chartOfAccounts' where data_type = 'accounts'`,
  sql`update push_operations set data_type = 'chartOfAccounts' where data_type = 'accounts'`,
  sql`update records set data_type = 'chartOfAccounts' where data_type = 'accounts'`,
  sql`update sandbox_records set data_type = 'chartOfAccounts' where data_type = 'accounts'`,
  sql`update sync_settings set data_type = 'chartOfAccounts' where data_type = 'accounts'`,
  sql`update syncs set data_type = 'chartOfAccounts' where data_type = 'accounts'`,
  sql`update connections set data_types = array_replace(data_types, 'accounts', 'chartOfAccounts')`,
  sql`
    update push_operations set changes = jsonb_set(changes, '{0,recordRef,dataType}', '"chartOfAccounts"')
    where changes #>> '{0,recordRef,dataType}' = 'accounts'`,
  // These libraries sort companies by `modifiedDate`.
  sql`alter table companies add column modified_at timestamptz(3)`,
  sql`update companies set modified_at = created_at`,
  sql`
    alter table companies alter column modified_at set not null, alter column modified_at set default clock_timestamp()`,
);
