import { isEnding } from '../migration/migration-state';
import { STEP_RULES, stepNumber, STEPS } from '../migration/steps';
import type { Progress } from './progress';

/** One line for lists and for the head of every screen. */
export function headline(progress: Progress): string {
  if (isEnding(progress.state)) return progress.state;
  const where = progress.route === 'self-service' ? stageText(progress) : stepText(progress);
  return progress.state === 'paused' ? `${where} (paused)` : where;
}

function stepText({ step }: Progress): string {
  return `step ${stepNumber(step)} of ${STEPS.length}, ${STEP_RULES[step].title.toLowerCase()}`;
}

/** How far it is in the self-service route, which has no steps that people know. */
function stageText({ step }: Progress): string {
  return `self-service, ${step === 'supply-details' ? 'checking what was supplied' : 'moving the companies'}`;
}
