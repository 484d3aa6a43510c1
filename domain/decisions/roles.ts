/** Roles: which role can make which decision. The workflow and the ledger apply the same rules. */
import type { Decision, StepDecision } from '../migration/decision';
import { roleText, STEP_RULES, stepText, type Role } from '../migration/steps';
import type { Route } from '../../platforms/platforms';

/** The only role that can make a decision; or why no role can make it. */
type RoleRule = string | { readonly only: Role; readonly refusal: string };

/** The rules of a kind of decision in each route. Absent: both roles can make it. */
interface KindRules {
  readonly managed?: RoleRule;
  readonly 'self-service'?: RoleRule;
  /** Why support cannot make it in self-service ({@link clientOnlyRefusal}). Absent: support can. */
  readonly ofClient?: string;
}

const AS_CLIENT = '(with ferry: add --as client, and --by with the name of the person who decides)';
const COMPANIES_OF_CLIENT = `in self-service, only the client can decide what happens to companies ${AS_CLIENT}`;

/** In self-service, the client makes the decisions that only support makes in the managed route. */
const ABOUT_EXCEPTIONS: KindRules = {
  managed: { only: 'support', refusal: 'only support can decide what happens to companies that were not moved' },
  ofClient: COMPANIES_OF_CLIENT,
};
const ONLY_SUPPORT: RoleRule = { only: 'support', refusal: 'only support can add or remove approvers' };
const ABOUT_APPROVERS: KindRules = { managed: ONLY_SUPPORT, 'self-service': ONLY_SUPPORT };

const RULES: Readonly<Record<Decision['kind'], KindRules>> = {
  step: { 'self-service': 'a self-service migration has no approvals or rejections: it ends automatically' },
  time: {
    'self-service':
      'a self-service migration starts at once, so no start time can be proposed; adjust its windows instead',
  },
  'first-company': {
    managed: { only: 'support', refusal: 'only support can choose the first company' },
    'self-service': 'a self-service migration has no first company',
  },
  'sync-disabled': {
    managed: {
      only: 'client',
      refusal: 'only the client can confirm that its own application no longer uses the tokens',
    },
    'self-service':
      'the start of a self-service migration confirms that syncing is off for every company, so no confirmation is needed',
  },
  'manifest-supplied': {
    'self-service': 'the manifest of a self-service migration is supplied at the start; amend the manifest instead',
  },
  exclude: { ofClient: COMPANIES_OF_CLIENT },
  skip: ABOUT_EXCEPTIONS,
  retry: ABOUT_EXCEPTIONS,
  relink: ABOUT_EXCEPTIONS,
  'replace-credential': { ofClient: COMPANIES_OF_CLIENT },
  adjust: {
    managed: { only: 'support', refusal: 'only support can change the limits' },
    ofClient: `in self-service, only the client can change the limits ${AS_CLIENT}`,
  },
  'add-approver': ABOUT_APPROVERS,
  'remove-approver': ABOUT_APPROVERS,
  ...{ 'credentials-supplied': {}, 'application-supplied': {}, 'manifest-amended': {} },
  ...{ pause: {}, resume: {}, cancel: {} },
};

/** Returns why this role cannot make this decision in this route; null if it can. */
export function roleRefusal(route: Route, decision: Decision): string | null {
  const rule = RULES[decision.kind][route];
  if (typeof rule === 'string') return rule;
  if (rule !== undefined && rule.only !== decision.role) return rule.refusal;
  if (decision.kind !== 'step') return null;
  return decision.verdict === 'approve' ? approvalRefusal(decision) : rejectionRefusal(decision);
}

/**
 * Returns why support cannot make this decision in self-service, where the client decides about its companies and
 * limits; null if it can. Support can still supply data. It can also pause, resume and cancel, because it must be able
 * to stop a migration at any time.
 *
 * Only the ledger and the commands apply this rule. The workflow does not, because it must be able to replay histories
 * in which it applied such decisions; it adopts the ledger's outcome.
 */
export function clientOnlyRefusal(route: Route, { kind, role }: Decision): string | null {
  return route === 'self-service' && role !== 'client' ? (RULES[kind].ofClient ?? null) : null;
}

function approvalRefusal({ step, role }: StepDecision): string | null {
  const { approvers } = STEP_RULES[step];
  if (approvers.length === 0)
    return `${stepText(step)} needs no approval: it ends when every company of the first wave is confirmed, left out or held back`;
  return approvers.includes(role)
    ? null
    : `only ${approvers.map(roleText).join(' and ')} can approve ${stepText(step)}`;
}

function rejectionRefusal({ step, role }: StepDecision): string | null {
  const { approvers, actors } = STEP_RULES[step];
  return [...approvers, ...actors].includes(role) ? null : `${roleText(role)} cannot reject ${stepText(step)}`;
}
