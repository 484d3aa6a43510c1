import { openCompanies } from '../../domain/company-state';
import { isEnding } from '../../domain/migration-state';
import type { Progress } from '../../domain/progress';
import type { Role } from '../../domain/steps';
import { STEP_RULES } from '../../domain/steps';

export interface NextCommand {
  readonly who: Role;
  readonly command: string;
}

/** What people can type to take a migration further: the commands as they are. */
export function nextCommands(progress: Progress): readonly NextCommand[] {
  const { migrationId: id, state, step } = progress;
  if (isEnding(state)) return [];
  if (state === 'paused') return [{ who: 'support', command: `ferry resume ${id}` }];
  switch (step) {
    case 'supply-details':
      return (progress.preflight?.problems.length ?? 0) > 0
        ? [
            {
              who: 'client',
              command: `ferry application ${id} --client-id ID --environment production --as client --by NAME`,
            },
            ...exceptions(progress),
            { who: 'support', command: `ferry reject ${id} supply-details --reason "check again"` },
          ]
        : approvals(progress);
    case 'schedule':
      if (!progress.proposal) return [{ who: 'support', command: `ferry propose-time ${id} "2026-11-21 22:00"` }];
      return approvals(progress);
    case 'update-application':
      return approvals(progress);
    case 'disable-syncing':
      return [{ who: 'client', command: `ferry confirm-sync-disabled ${id} --all --as client --by NAME` }];
    case 'migrate-first-company':
      return [...credentials(progress), ...afterFirstCompany(progress)];
    case 'complete-migration':
      return openCompanies(progress.counts) === 0
        ? [...exceptions(progress), ...approvals(progress)]
        : [
            ...confirmations(progress),
            ...credentials(progress),
            ...exceptions(progress),
            { who: 'support', command: `ferry watch ${id}` },
          ];
  }
}

function approvals({ migrationId, step, steps }: Progress): readonly NextCommand[] {
  const given = steps.find((each) => each.step === step)?.approvals ?? [];
  return STEP_RULES[step].approvers
    .filter((role) => !given.some((approval) => approval.role === role))
    .map((who) => ({
      who,
      command: `ferry approve ${migrationId} ${step}${who === 'client' ? ' --as client --by NAME' : ''}`,
    }));
}

/** Of companies of later waves, and of those that came late. */
function confirmations({ migrationId, counts }: Progress): readonly NextCommand[] {
  if (counts.unconfirmed === 0) return [];
  return [{ who: 'client', command: `ferry confirm-sync-disabled ${migrationId} REFERENCE... --as client --by NAME` }];
}

function credentials({ migrationId, counts }: Progress): readonly NextCommand[] {
  if (counts.withoutCredential === 0) return [];
  return [{ who: 'client', command: `ferry credentials ${migrationId} FILE --as client --by NAME` }];
}

/** What can be done about them stands there, as commands. */
function exceptions({ migrationId, counts }: Progress): readonly NextCommand[] {
  if (counts.failed + counts.outcomeUnknown + counts.heldBack === 0) return [];
  return [{ who: 'support', command: `ferry exceptions ${migrationId}` }];
}

function afterFirstCompany(progress: Progress): readonly NextCommand[] {
  const { migrationId: id, firstCompany } = progress;
  switch (firstCompany?.stage) {
    case 'proven':
      return approvals(progress);
    case 'failed':
      return [
        ...exceptions(progress),
        { who: 'support', command: `ferry first-company ${id} ${firstCompany.reference} --reason TEXT` },
        { who: 'support', command: `ferry first-company ${id} REFERENCE --reason TEXT` },
      ];
    case 'importing':
    case undefined:
      return [];
  }
}
