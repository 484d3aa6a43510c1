/** The outcomes of a decision that is sent in parts, because it has more companies than fit into one message. */
import { counted, outOf } from '../text/sentences';
import { isPartial } from './partial-outcome';

/** The outcome of a part that was not refused. */
export interface PartOutcome {
  readonly text: string;
  /** The number of companies that the part names. */
  readonly companies: number;
  /** True if Temporal has the decision, but its outcome is not known yet. */
  readonly isUnknown?: boolean;
}

const isComplete = (outcome: PartOutcome): boolean => outcome.isUnknown !== true && !isPartial(outcome);

/** Returns the outcomes of the earlier parts as a sentence; null if each part was applied to all of its companies. */
export function earlierText(outcomes: readonly PartOutcome[]): string | null {
  if (outcomes.every(isComplete)) return null;
  return `${outcomes.length === 1 ? 'The earlier answer was' : 'The earlier answers were'}: ${joinedOutcomes(outcomes)}`;
}

/** Stands for the number of companies in the outcome of a part. */
const NUMBER = '\u0000';

/**
 * Joins the outcomes of the parts. Outcomes that differ only in the number of companies become one, with the sum.
 * Outcomes about fewer companies than the part has come first, because {@link isPartial} reads the beginning.
 */
export function joinedOutcomes(outcomes: readonly PartOutcome[]): string {
  const totals = new Map<string, number>();
  for (const { text, companies } of outcomes.filter((outcome) => !isPartial(outcome))) {
    const shape = text.replace(counted(companies, 'company'), () => NUMBER);
    totals.set(shape, (totals.get(shape) ?? 0) + companies);
  }
  const complete = [...totals].map(([shape, companies]) => shape.replace(NUMBER, () => counted(companies, 'company')));
  return [...outcomes.filter(isPartial).map(({ text }) => text), ...complete].join('; ');
}

/**
 * Returns the answer to a part that was not applied, with what has become of the other parts. If the decision did not
 * change all companies of the earlier parts, repeats the answers to these parts.
 */
export function laterRefusalText(
  answer: string,
  { answers, part, all }: { readonly answers: readonly PartOutcome[]; readonly part: number; readonly all: number },
): string {
  const before = answers.reduce((sum, { companies }) => sum + companies, 0);
  const rest = all - before - part;
  const notSent = rest === 0 ? '' : `. The decision was not sent for the last ${counted(rest, 'company')}`;
  const first = outOf(before, all, 'company');
  const earlier = answers.every(isComplete)
    ? `the decision was applied to the first ${first}`
    : `the answer about the first ${first} was: ${joinedOutcomes(answers)}`;
  return `${earlier}. The answer about the next ${counted(part, 'company')} was: ${answer}${notSent}`;
}
