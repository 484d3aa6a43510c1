/** Takes a decision at the desk: shows what it is about, asks who decides and why, and then for a last yes. */
import type { Progress } from '../../domain/progress/progress';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import type { Role, Step } from '../../domain/migration/steps';
import { isStep, ROLES, STEP_RULES } from '../../domain/migration/steps';
import { CommandFailed, withAdvice } from '../shared/errors';
import { assertCompany } from '../shared/decisions';
import { readReview } from '../shared/review';
import type { LedgerClient, DecisionContent } from '../../client';
import { decide, readProgressIfAnswered } from '../../client';
import type { Terminal } from '../terminal';
import { Output } from '../terminal';
import type { Prompts } from '../terminal/prompts';
import { Unanswered } from '../terminal/prompts';
import type { WantedDecision } from './keys';
import type { Said } from './state';

/** Whoever sits at the desk, and what they decide with. */
export interface Decider {
  readonly ferry: LedgerClient;
  readonly terminal: Terminal;
  readonly prompts: Prompts;
  /** The role and the person that are proposed first. */
  readonly role: Role;
  readonly by: string;
}

/** What is about to be sent. */
interface Intent {
  readonly message: DecisionMessage;
  /** What is asked for a last yes. */
  readonly question: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly reason: 'needed' | 'possible';
}

const NOTHING: Said = { became: 'nothing', text: 'Nothing was decided.' };

/** Of companies that a decision is about, so many leave room for the questions in the smallest of terminals. */
const COMPANIES_SHOWN = 6;

/**
 * Opens the dialogs of a desk, which propose who decided last.
 *
 * @returns what became of it; what a person can do something about is said, and not thrown
 */
export function openDialogs(decider: Decider): (wanted: WantedDecision, listedStep: string) => Promise<Said> {
  let latest: Person = { role: decider.role, by: decider.by };
  return async (wanted, listedStep) => {
    try {
      const intent = await intentOf(decider, wanted, listedStep);
      latest = await askWho(decider.prompts, latest);
      const reason = await askReason(decider.prompts, intent.reason);
      if (!(await decider.prompts.confirm(intent.question))) return NOTHING;
      const sent: DecisionContent = { ...intent.fields, ...latest, ...(reason === '' ? {} : { reason }) };
      const { became, text } = await decide(decider.ferry, wanted.migrationId, intent.message, sent);
      return { became, text: `${wanted.migrationId}: ${text}` };
    } catch (error) {
      if (error instanceof Unanswered) return NOTHING;
      const told = withAdvice(error);
      if (!(told instanceof CommandFailed)) throw told;
      return { became: 'failed', text: `${told.message}; ${told.advice}` };
    }
  };
}

interface Person {
  readonly role: Role;
  readonly by: string;
}

async function askWho(prompts: Prompts, latest: Person): Promise<Person> {
  const role = await prompts.choose(
    'Whose decision is it?',
    ROLES.map((each) => ({ name: each, value: each })),
    latest.role,
  );
  const by = await prompts.text('Who decides?', {
    ...(role === latest.role ? { byDefault: latest.by } : {}),
    refused: (answer) => (answer === '' ? 'A name is needed' : null),
  });
  return { role, by };
}

function askReason(prompts: Prompts, reason: Intent['reason']): Promise<string> {
  if (reason === 'possible') return prompts.text('Why? (Enter: no reason)');
  return prompts.text('Why?', { refused: (answer) => (answer === '' ? 'A reason is needed' : null) });
}

async function intentOf(decider: Decider, wanted: WantedDecision, listedStep: string): Promise<Intent> {
  const { migrationId } = wanted;
  const { ferry } = decider;
  switch (wanted.kind) {
    case 'approve':
    case 'reject': {
      const progress = await readProgressIfAnswered(ferry, migrationId);
      const step = progress?.step ?? listedStep;
      if (!isStep(step)) throw new CommandFailed(`there is no step to ${wanted.kind}`, 'nobody approves in its route');
      return wanted.kind === 'approve' ? toApprove(decider, progress, step) : toReject(decider, progress, step, wanted);
    }
    case 'pause':
      return { message: 'pause', question: `Pause ${migrationId}?`, fields: {}, reason: 'possible' };
    case 'resume':
      return { message: 'resume', question: `Resume ${migrationId}?`, fields: {}, reason: 'possible' };
    case 'retry':
      return toRetry(decider, wanted);
  }
}

/** Bound to exactly what is shown. Without a worker there is nothing to show, and the decision waits for one. */
async function toApprove(decider: Decider, progress: Progress | undefined, step: Step): Promise<Intent> {
  const subject = progress && (await readReview(decider.ferry, progress, step, COMPANIES_SHOWN));
  subject?.print(new Output(decider.terminal, false));
  return {
    message: 'approve',
    question: `Approve ${step}?`,
    fields: { step, ...(subject ? { digest: subject.digest } : {}) },
    reason: 'possible',
  };
}

async function toReject(
  { ferry, prompts, terminal }: Decider,
  progress: Progress | undefined,
  step: Step,
  { migrationId }: WantedDecision,
): Promise<Intent> {
  const subject = progress && (await readReview(ferry, progress, step, COMPANIES_SHOWN));
  subject?.print(new Output(terminal, false));
  const afterwards = step === 'migrate-first-company' ? await askWhatIsNext(ferry, prompts, migrationId) : {};
  const question = `Reject ${step} (${STEP_RULES[step].title.toLowerCase()})?`;
  return { message: 'reject', question, fields: { step, ...afterwards }, reason: 'needed' };
}

/** After the first company somebody has to say what is tried next. */
async function askWhatIsNext(ferry: LedgerClient, prompts: Prompts, migrationId: string): Promise<Intent['fields']> {
  const next = await prompts.choose('What is next?', [
    { name: 'the same company again', value: 'same-company' },
    { name: 'another company', value: 'another-company' },
    { name: 'give the migration up', value: 'abandon' },
  ]);
  if (next !== 'another-company') return { next };
  const company = await prompts.text('Which company? (its reference)');
  await assertCompany(ferry, migrationId, company);
  return { next, company };
}

async function toRetry({ prompts }: Decider, { migrationId, reference }: WantedDecision): Promise<Intent> {
  const one = reference === undefined ? [] : [{ name: reference, value: reference }];
  const all = { name: 'every company that was not moved', value: 'all' };
  const chosen = one.length === 0 ? 'all' : await prompts.choose('Which?', [...one, all], reference);
  return {
    message: 'retry',
    question: `Try ${chosen === 'all' ? all.name : chosen} of ${migrationId} again?`,
    fields: { companies: chosen === 'all' ? 'all' : [chosen] },
    reason: 'possible',
  };
}
