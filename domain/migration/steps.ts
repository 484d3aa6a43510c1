/** The six steps of a managed migration, who acts in each, and whose approval ends it. */
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

/** `client` is the business that moves its connections over; `support` is the provider's solutions team. */
export type Role = 'client' | 'support';

export const ROLES: readonly Role[] = ['client', 'support'];

export interface StepRules {
  readonly title: string;
  /** Every one of these must approve before the step ends; none: the step ends by facts, not by an approval. */
  readonly approvers: readonly Role[];
  /** Who has something to do in the step, beyond approving. */
  readonly actors: readonly Role[];
  /** Whether an approval may come before the step is open and wait for it: only where it states a fact. */
  readonly mayComeEarly: boolean;
}

export const STEP_RULES: Readonly<Record<Step, StepRules>> = {
  'supply-details': { title: 'Supply details', approvers: ['support'], actors: ['client'], mayComeEarly: false },
  schedule: {
    title: 'Schedule the migration',
    approvers: ['client', 'support'],
    actors: ['client', 'support'],
    mayComeEarly: false,
  },
  'update-application': {
    title: 'Update the application',
    approvers: ['client', 'support'],
    actors: ['client'],
    mayComeEarly: true,
  },
  'disable-syncing': { title: 'Disable data syncing', approvers: [], actors: ['client'], mayComeEarly: true },
  'migrate-first-company': {
    title: 'Migrate the first company',
    approvers: ['support'],
    actors: ['support'],
    mayComeEarly: false,
  },
  'complete-migration': {
    title: 'Complete the migration',
    approvers: ['support', 'client'],
    actors: ['support'],
    mayComeEarly: false,
  },
};

/** What there is to do in a route. In the self-service route what was supplied is checked, and moved: nobody approves. */
export function stepsOf(route: Route): readonly Step[] {
  return route === 'self-service' ? ['supply-details', 'complete-migration'] : STEPS;
}

export function isStep(word: unknown): word is Step {
  return STEPS.some((step) => step === word);
}

export function isRole(word: unknown): word is Role {
  return ROLES.some((role) => role === word);
}

/** Counted from 1, as people count them. */
export function stepNumber(step: Step): number {
  return STEPS.indexOf(step) + 1;
}
