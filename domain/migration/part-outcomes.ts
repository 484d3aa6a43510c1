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
 * Joins the outcomes of the parts. Outcomes that differ only in the number of companies become one, with the sum,
 * unless they are partial. Partial outcomes come first, because {@link isPartial} reads the beginning of the joined
 * text. An unknown outcome has no number, so it is joined with others as `for 1,000 companies: ...`.
 */
export function joinedOutcomes(outcomes: readonly PartOutcome[]): string {
  const known = outcomes.filter((outcome) => outcome.isUnknown !== true && !isPartial(outcome));
  const unknown = outcomes.filter((outcome) => outcome.isUnknown === true);
  const partial = outcomes
    .filter((outcome) => outcome.isUnknown !== true && isPartial(outcome))
    .map(({ text }) => text);
  const complete = summed(known).map(({ text, companies }) =>
    text.replace(NUMBER, () => counted(companies, 'company')),
  );
  const open = summed(unknown).map(({ text, companies }) => {
    const count = counted(companies, 'company');
    return { text: text.replace(NUMBER, () => count), count };
  });
  const [only, ...others] = open;
  if (only && others.length === 0 && known.length + partial.length === 0) return only.text;
  return [...partial, ...complete, ...open.map(({ text, count }) => `for ${count}: ${text}`)].join('; ');
}

/** Adds up the companies of the outcomes whose texts differ only in their number, which becomes {@link NUMBER}. */
function summed(outcomes: readonly PartOutcome[]): readonly PartOutcome[] {
  const totals = new Map<string, number>();
  for (const { text, companies } of outcomes) {
    const shape = text.replace(counted(companies, 'company'), () => NUMBER);
    totals.set(shape, (totals.get(shape) ?? 0) + companies);
  }
  return [...totals].map(([text, companies]) => ({ text, companies }));
}

/**
 * Returns the answer to a part that was not applied, with what has become of the other parts. Repeats the answers to
 * the earlier parts if one of them is unknown, or does not apply to all companies of its part.
 */
export function laterRefusalText(
  answer: string,
  { answers, part, all }: { readonly answers: readonly PartOutcome[]; readonly part: number; readonly all: number },
): string {
  const before = answers.reduce((sum, { companies }) => sum + companies, 0);
  const rest = all - before - part;
  const notSent = rest === 0 ? '' : `. The decision was not sent for the last ${someCompanies(rest)}`;
  const first = outOf(before, all, 'company');
  const earlier = answers.every(isComplete)
    ? `the decision was applied to the first ${first}`
    : `the answer about the first ${first} was: ${joinedOutcomes(answers)}`;
  return `${earlier}. For the next ${someCompanies(part)}: ${answer}${notSent}`;
}

/** Returns `company` or, for example, `2 companies`, to follow "the next" or "the last". */
const someCompanies = (count: number): string => (count === 1 ? 'company' : counted(count, 'company'));
