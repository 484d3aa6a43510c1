import { duration, headline } from '../../domain/details';
import { settledCompanies } from '../../domain/company-state';
import type { Progress, StepProgress } from '../../domain/progress';
import { STEP_RULES, stepNumber } from '../../domain/steps';
import { readHeldUp, readProgress } from '../ferry';
import type { CommandResult, Screen } from '../screen';
import { localTime } from '../screen/times';
import type { Context } from './context';
import { nextCommands } from './next-commands';
import { withFerry } from './with-ferry';

/** `ferry show`: one migration on one screen, and the commands that take it further. */
export function addShow({ program, run, terminal }: Context): void {
  program
    .command('show <migration>')
    .description('Show one migration: steps, companies, evidence, who is waited for and what to type next')
    .action((migration: string) =>
      run(() =>
        withFerry(terminal.env, async (ferry) => {
          const progress = await readProgress(ferry, migration);
          return showResult(progress, await readHeldUp(ferry, migration));
        }),
      ),
    );
}

function showResult(progress: Progress, heldUp: readonly string[]): CommandResult {
  const next = nextCommands(progress);
  return {
    json: { schema: 'ferry.show/1', ...progress, heldUp, next },
    print: (screen) => {
      screen.line(`${screen.styled('bold', progress.migrationId)}  ${headline(progress)}`);
      const { roles, what } = progress.waitingFor;
      screen.line(`Waiting for ${roles.length === 0 ? 'nobody' : roles.join(' and ')}: ${what}`);
      for (const reason of heldUp) screen.line(screen.styled('yellow', `Held up: ${reason}`));
      screen.line();
      printSteps(screen, progress.steps);
      screen.line();
      printFacts(screen, progress);
      printEvidence(screen, progress);
      if (next.length > 0) {
        screen.line();
        screen.line(screen.styled('bold', 'What comes next:'));
        for (const { who, command } of next) screen.line(`  ${who}: ${command}`);
      }
    },
  };
}

function printSteps(screen: Screen, steps: readonly StepProgress[]): void {
  screen.table(
    [{ title: '' }, { title: 'Step' }, { title: 'State' }, { title: 'Since / ended' }, { title: 'Approved by' }],
    steps.map(({ step, state, openedAt, endedAt, approvals }) => [
      String(stepNumber(step)),
      STEP_RULES[step].title,
      state === 'open'
        ? { text: 'open', style: 'yellow' }
        : state === 'done'
          ? { text: 'done', style: 'green' }
          : state,
      endedAt ? localTime(endedAt) : openedAt && state === 'open' ? localTime(openedAt) : '',
      approvals.map(({ role, by }) => `${by} (${role})`).join(', '),
    ]),
  );
}

function printFacts(screen: Screen, { counts, estimate, proposal, preflight }: Progress): void {
  const moving = counts.importing + counts.syncing;
  screen.line(
    `Companies: ${settledCompanies(counts)} of ${counts.total} done; ${counts.migrated} migrated, ${moving} under way, ` +
      `${counts.waiting} waiting, ${counts.failed} failed, ${counts.skipped + counts.excluded} left out`,
  );
  if (counts.unconfirmed > 0) screen.line(`  ${counts.unconfirmed} not yet confirmed as disabled`);
  if (counts.withoutCredential > 0)
    screen.line(`  ${counts.withoutCredential} confirmed, but without a credential that counts`);
  if (counts.outcomeUnknown > 0) screen.line(`  ${counts.outcomeUnknown} whose outcome is unknown`);
  if (preflight?.callbackUrl) screen.line(`Callback URL: ${preflight.callbackUrl}`);
  if (estimate) {
    const basis = estimate.measured ? 'measured' : 'before anything is measured';
    screen.line(`Estimate: ${duration(estimate.lowMs)} to ${duration(estimate.highMs)} (${basis})`);
  }
  if (proposal) screen.line(`Start: ${localTime(proposal.startAt)}, proposed by ${proposal.by} (${proposal.role})`);
}

function printEvidence(screen: Screen, { firstCompany }: Progress): void {
  if (!firstCompany || firstCompany.stage === 'importing') return;
  screen.line();
  screen.line(`First company ${firstCompany.reference}: ${firstCompany.stage}`);
  for (const { check, passed, detail, correlationId, durationMs } of firstCompany.evidence) {
    const mark = passed ? screen.styled('green', '✓') : screen.styled('red', '✗');
    const measured = [
      ...(durationMs === undefined ? [] : [`${durationMs} ms`]),
      ...(correlationId === undefined ? [] : [`correlation id ${correlationId}`]),
    ].join(', ');
    screen.line(`  ${mark} ${check}: ${detail}${measured === '' ? '' : `  (${measured})`}`);
  }
}
