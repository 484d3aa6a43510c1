/** The six steps of a managed migration: who acts in each step, and whose approvals end it. */
import type { Route } from '../../platforms/platforms';

export const STEPS = [
  'supply-details',
  'schedule',
  'update-application',
  'disable-syncing',
  'migrate-first-company',
  'complete-migration',
] as const;

export type Step = (typeof STEPS)[number];

/** `client` is the business that moves its connections. `support` is the provider's solutions team. */
export type Role = 'client' | 'support';

export const ROLES: readonly Role[] = ['client', 'support'];

/** Returns the role as a part of a sentence. */
export function roleText(role: Role): string {
  return role === 'client' ? 'the client' : role;
}

export interface StepRules {
  readonly title: string;
  /** The roles that have work to do in the step, apart from approving it. */
  readonly actors: readonly Role[];
  /** The roles that must all approve before the step ends. Empty if the step ends without approvals. */
  readonly approvers: readonly Role[];
  /** Set if the step can be approved early. The approval is kept when an earlier step is reopened: it states a fact. */
  readonly approvableEarly?: true;
}

const BOTH: readonly Role[] = ['client', 'support'];

export const STEP_RULES: Readonly<Record<Step, StepRules>> = {
  // The client supplies the manifest and its application. Ends when the preflight finds no errors and support accepts.
  'supply-details': { title: 'Supply details', actors: ['client'], approvers: ['support'] },

  // Either side proposes a start. Ends when both have approved the same proposal.
  schedule: { title: 'Schedule the migration', actors: BOTH, approvers: BOTH },

  // The client adds the callback URL to its application. Ends when the client and support have confirmed it.
  'update-application': { title: 'Update the application', actors: ['client'], approvers: BOTH, approvableEarly: true },

  // The client turns off syncing. Ends when every company of the first wave is confirmed, left out or held back.
  'disable-syncing': { title: 'Disable data syncing', actors: ['client'], approvers: [] },

  // One company is moved and verified. Ends when support approves the evidence.
  'migrate-first-company': { title: 'Migrate the first company', actors: ['support'], approvers: ['support'] },

  // The other companies are moved. Ends when no company is open and both sides have signed off the handover.
  'complete-migration': { title: 'Complete the migration', actors: ['support'], approvers: ['support', 'client'] },
};

/** Returns the steps of a route. In self-service, the details are checked and then the companies are moved. */
export function stepsOf(route: Route): readonly Step[] {
  return route === 'self-service' ? ['supply-details', 'complete-migration'] : STEPS;
}

export function isStep(word: unknown): word is Step {
  return STEPS.some((step) => step === word);
}

export function isRole(word: unknown): word is Role {
  return ROLES.some((role) => role === word);
}

/** Returns the number of a step, from 1. */
export function stepNumber(step: Step): number {
  return STEPS.indexOf(step) + 1;
}

/** Returns whether companies can move in a step: in steps 5 and 6. */
export function isMoveStep(step: Step): boolean {
  return step === 'migrate-first-company' || step === 'complete-migration';
}

/** Returns whether a step comes before step 4, in which the client turns off syncing. */
export function isBeforeSyncIsOff(step: Step): boolean {
  return stepNumber(step) < stepNumber('disable-syncing');
}

/** Returns a step as a part of a sentence that people read: `step 3 (update the application)`. */
export function stepText(step: Step): string {
  return `step ${stepNumber(step)} (${STEP_RULES[step].title.toLowerCase()})`;
}
