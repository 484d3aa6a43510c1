/** The preflight, as a worker does it: facts from the ledger and the service; findings to the ledger and the migration. */
import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { readServiceFacts } from '../company-data-client';
import { companyFindings } from '../domain/company-findings';
import type { Preflight } from '../domain/migration-state';
import { findPlatform } from '../domain/platforms';
import { heldBackBy, organizationKey, preflight, summarized } from '../domain/preflight';
import type { UncheckedCompany } from '../store';
import { countCompanies, findOpenElsewhere, holdBack, readMigration, readToMove } from '../store';
import { isOfMigration } from './at-the-service';
import type { ActivityDeps } from './deps';
import { estimateBefore } from './estimates';

interface CheckOf {
  readonly migrationId: string;
  /** The agreed or proposed start, ISO 8601; null: none yet. */
  readonly startAt: string | null;
}

export function preflightActivities({ db, service }: ActivityDeps) {
  return {
    /**
     * Checks what was supplied against the account, the platform and other migrations; no credential is used. Companies
     * with an error of their own are held back, the others may be moved.
     */
    async preflight({ migrationId, startAt }: CheckOf): Promise<Preflight> {
      const migration = await readMigration(db, migrationId);
      if (!migration) return NO_MANIFEST;
      const { total } = await countCompanies(db, migrationId);
      const { manifestDigest, suppliedBy, platformKey, route } = migration;
      const checked = { companies: total, manifestDigest, suppliedBy };
      const platform = findPlatform(platformKey);
      if (!platform) {
        const problems = [`platform ${platformKey} is unknown`];
        return {
          ...checked,
          problems,
          problemCodes: ['no-managed-route'],
          warnings: [],
          heldBack: 0,
          callbackUrl: null,
        };
      }
      const rows = await readToMove(db, migrationId);
      const organizations = new Set(rows.map(({ organization }) => organizationKey(organization)));
      const authorized = new Set(rows.map((row) => row.authorized));
      const facts = await readServiceFacts(service, {
        platformKey: platform.key,
        organizations,
        isOwn: (company) => isOfMigration(company, migrationId) || authorized.has(company.id),
        signal: cancellationSignal(),
        onProgress: heartbeat,
      });
      const findings = [
        ...preflight({
          route,
          platform,
          rows,
          toCreate: rows.filter(({ created }) => !created).length,
          service: facts,
          openElsewhere: await findOpenElsewhere(db, platform.key, organizations, migrationId),
          endsBy: (await estimateBefore(db, migrationId, startAt)).ends?.latest ?? null,
        }),
        ...companyFindings(rows, platform),
      ];
      const heldBack = heldBackBy(findings);
      await holdBack(db, migrationId, changedVerdicts(rows, heldBack));
      const callbackUrl = 'refused' in facts ? null : facts.callbackUrl;
      return { ...checked, ...summarized(findings), heldBack: heldBack.size, callbackUrl };
    },
  };
}

const NO_MANIFEST: Preflight = {
  companies: 0,
  manifestDigest: null,
  suppliedBy: null,
  problems: ['no manifest was supplied'],
  problemCodes: ['no-companies'],
  warnings: [],
  heldBack: 0,
  callbackUrl: null,
};

/** Most companies stay as they are: only what is new is written. */
function changedVerdicts(rows: readonly UncheckedCompany[], heldBack: ReadonlyMap<number, string>) {
  return rows.flatMap(({ row, name, organization, heldBack: before }) => {
    const now = heldBack.get(row) ?? null;
    return now === before ? [] : [{ row, name, organization, heldBack: now }];
  });
}
