/** Who can solve the problems of the supplied details. */
import type { FindingCode } from '../companies/finding';
import type { Preflight } from '../migration/preflight-result';
import type { Role } from '../migration/steps';
import type { Route } from '../../platforms/platforms';
import type { Progress } from './progress';

/** Problems with the account, its key, the route or other migrations. If managed, only support can solve them. */
const OF_SUPPORT: readonly FindingCode[] = [
  'service-refuses',
  'key-not-administrator',
  'no-room',
  'account-expires',
  'platform-disabled',
  'no-managed-route',
  'application-of-another-migration',
  'organization-connected',
  'organization-open-elsewhere',
];

/** Returns who can solve the problems of the details in the managed route; both roles if each can solve some. */
function rolesForProblems({ problemCodes }: Preflight): readonly Role[] {
  const forSupport = problemCodes.filter(isOfSupport);
  const forClient = problemCodes.length > forSupport.length;
  return [...(forClient ? (['client'] as const) : []), ...(forSupport.length > 0 ? (['support'] as const) : [])];
}

/**
 * Returns the problems of the details by the role that can solve them, without the names of other clients. In
 * self-service, all of them are for the client. The lists leave out a missing manifest.
 */
export function problemsByRole(route: Route, preflight: Preflight): Readonly<Record<Role, readonly string[]>> {
  const { problems, clientProblems = problems, problemCodes } = preflight;
  const byRole: Record<Role, string[]> = { client: [], support: [] };
  for (const [index, problem] of clientProblems.entries()) {
    const code = problemCodes[index];
    const isForSupport = route === 'managed' && code !== undefined && isOfSupport(code);
    if (code !== 'no-companies') byRole[isForSupport ? 'support' : 'client'].push(problem);
  }
  return byRole;
}

/**
 * Returns whether either side can resume a paused migration, because only people have paused it. In self-service, only
 * the client is asked to.
 */
export function canBothResume({ route, state, pause }: Pick<Progress, 'route' | 'state' | 'pause'>): boolean {
  return route === 'managed' && state === 'paused' && pause?.stopReason === null;
}

/** Names who has to act, for people: `client and support`, or `client or support`. Empty if no person has to act. */
export function actingText(progress: Pick<Progress, 'route' | 'state' | 'pause' | 'waitingFor'>): string {
  return canBothResume(progress) ? 'client or support' : progress.waitingFor.roles.join(' and ');
}

/** Returns whether only support can solve a problem with this code. */
export const isOfSupport = (code: FindingCode): boolean => OF_SUPPORT.includes(code);

/**
 * Corrects who has to act. In step 1, the workflow names the client for every problem of the details, and cannot change
 * that, because recorded histories depend on it. Views show the roles that can solve the problems.
 */
export function withActingRoles(progress: Progress): Progress {
  const { state, waitingFor } = progress;
  if (state !== 'waiting') return progress;
  return { ...progress, waitingFor: { ...waitingFor, roles: actingRoles(progress, waitingFor.roles) } };
}

/**
 * Returns who has to act in step 1 of the managed route, if the check of the details has found problems; otherwise
 * `roles`. If support has asked for changes, the client has to act in any case.
 */
export function actingRoles(
  { route, step, preflight, reopened }: DetailsState,
  roles: readonly Role[],
): readonly Role[] {
  const hasProblems = preflight !== null && preflight.problemCodes.length > 0;
  if (route !== 'managed' || step !== 'supply-details' || !hasProblems) return roles;
  const able = rolesForProblems(preflight);
  return reopened?.asksForChanges && !able.includes('client') ? ['client', ...able] : able;
}

interface DetailsState extends Pick<Progress, 'route' | 'step' | 'preflight'> {
  readonly reopened?: { readonly asksForChanges?: true } | null;
}

const BOTH_SIDES = /^the client must (?<ofClient>.*); support must (?<ofSupport>.*)$/s;

/** Splits a task of both sides into the client's part and support's part. Returns null for any other task. */
export function tasksOfBothSides(what: string): { readonly ofClient: string; readonly ofSupport: string } | null {
  const { ofClient, ofSupport } = BOTH_SIDES.exec(what)?.groups ?? {};
  return ofClient === undefined || ofSupport === undefined ? null : { ofClient, ofSupport };
}
