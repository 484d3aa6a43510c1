import { estimateBasisText, endText } from '../../../presentation/temporal-ui/current-details';
import { headline } from '../../../domain/progress/progress';
import { duration, counted } from '../../../domain/text/sentences';
import type { Estimate } from '../../../domain/planning/estimate';
import { finishedCompanies } from '../../../domain/companies/company-state';
import type { Progress, StepProgress } from '../../../domain/progress/progress';
import { STEP_RULES, stepNumber } from '../../../domain/migration/steps';
import type { Interrupted } from '../../../store';
import { countInterrupted } from '../../../store';
import { readOutages, readProgress } from '../../../client';
import type { CommandResult, Output } from '../../terminal';
import { localTime } from '../../terminal/times';
import type { Context } from '../../shared/context';
import { printPreflight } from '../../shared/finding-list';
import { nextCommands } from '../../shared/next-commands';
import { withMigrationClient } from '../../shared/with-ferry';

/** `ferry show`: one migration on one screen, and the commands that take it further. */
export function addShow({ program, run, terminal }: Context): void {
  program
    .command('show <migration>')
    .description('Show one migration: steps, companies, evidence, who is waited for and what to type next')
    .action((migration: string) =>
      run(() =>
        withMigrationClient(terminal.env, async (ferry) => {
          const progress = await readProgress(ferry, migration);
          const heldUp = await readOutages(ferry, migration);
          const interrupted = ferry.db ? await countInterrupted(ferry.db, migration) : null;
          return showResult(progress, heldUp, interrupted);
        }),
      ),
    );
}

function showResult(progress: Progress, heldUp: readonly string[], interrupted: Interrupted | null): CommandResult {
  const next = nextCommands(progress);
  return {
    json: { schema: 'ferry.show/1', ...progress, heldUp, interrupted, next },
    print: (output) => {
      output.line(`${output.styled('bold', progress.migrationId)}  ${headline(progress)}`);
      const { roles, what } = progress.waitingFor;
      output.line(`Waiting for ${roles.length === 0 ? 'nobody' : roles.join(' and ')}: ${what}`);
      for (const reason of heldUp) output.line(output.styled('yellow', `Held up: ${reason}`));
      output.line();
      if (progress.route !== 'self-service') {
        printSteps(output, progress.steps);
        output.line();
      }
      printFacts(output, progress);
      if (interrupted) printInterrupted(output, interrupted);
      printEvidence(output, progress);
      if (next.length > 0) {
        output.line();
        output.line(output.styled('bold', 'What comes next:'));
        for (const { who, command } of next) output.line(`  ${who}: ${command}`);
      }
    },
  };
}

function printSteps(output: Output, steps: readonly StepProgress[]): void {
  output.table(
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

function printFacts(output: Output, { route, counts, estimate, proposal, preflight }: Progress): void {
  const moving = counts.importing + counts.syncing;
  output.line(
    `Companies: ${finishedCompanies(counts)} of ${counts.total} done; ${counts.migrated} migrated, ${moving} under way, ` +
      `${counts.waiting} waiting, ${counts.failed} failed, ${counts.skipped + counts.excluded} left out`,
  );
  if (counts.unconfirmed > 0) output.line(`  ${counts.unconfirmed} not yet confirmed as disabled`);
  if (counts.withoutCredential > 0)
    output.line(`  ${counts.withoutCredential} confirmed, but without a credential that counts`);
  if (counts.heldBack > 0) output.line(`  ${counts.heldBack} held back until they are corrected or left out`);
  if (counts.outcomeUnknown > 0) output.line(`  ${counts.outcomeUnknown} whose outcome is unknown`);
  if (preflight) printPreflight(output, preflight);
  // Where nobody is to add it to anything, it would only ask to be added.
  if (preflight?.callbackUrl && route !== 'self-service') output.line(`Callback URL: ${preflight.callbackUrl}`);
  if (estimate && estimate.volume.companies > 0) printEstimate(output, estimate, proposal !== null);
  if (proposal) output.line(`Start: ${localTime(proposal.startAt)}, proposed by ${proposal.by} (${proposal.role})`);
}

function printInterrupted(output: Output, { companies, onItsWayUntil }: Interrupted): void {
  if (companies === 0) return;
  const were = companies === 1 ? 'company was' : 'companies were';
  const until = onItsWayUntil && `; a credential may be on its way to the service until ${localTime(onItsWayUntil)}`;
  output.line(`${companies} ${were} interrupted, and will be taken up again${until ?? ''}`);
}

function printEstimate(output: Output, estimate: Estimate, hasStart: boolean): void {
  const { volume, requests, lowMs, highMs, ends, darkHours } = estimate;
  const number = (count: number): string => count.toLocaleString('en-US');
  const records =
    volume.companiesWithoutVolume === volume.companies ? 'records unknown' : counted(volume.records, 'record');
  output.line(
    `Estimate: ${duration(lowMs)} to ${duration(highMs)} for ${counted(volume.companies, 'company')}, ${records}, ` +
      `${number(requests)} requests (${estimateBasisText(estimate)})`,
  );
  if (hasStart && ends) output.line(`  ${endText(localTime(ends.earliest), localTime(ends.latest))}`);
  if (darkHours !== null) output.line(`  up to ${counted(darkHours, 'hour')} without fresh data`);
  if (volume.largestFamily > 1) {
    output.line(
      `  ${counted(volume.largestFamily, 'company')} go one after the other: their tokens can end one another`,
    );
  }
}

/** What the first company's end-to-end check has found. */
export function printEvidence(output: Output, { firstCompany }: Progress): void {
  if (!firstCompany || firstCompany.stage === 'importing') return;
  output.line();
  output.line(`First company ${firstCompany.reference}: ${firstCompany.stage}`);
  for (const { check, passed, detail, correlationId, durationMs } of firstCompany.evidence) {
    const mark = passed ? output.styled('green', '✓') : output.styled('red', '✗');
    const measured = [
      ...(durationMs === undefined ? [] : [`${durationMs} ms`]),
      ...(correlationId === undefined ? [] : [`correlation id ${correlationId}`]),
    ].join(', ');
    output.line(`  ${mark} ${check}: ${detail}${measured === '' ? '' : `  (${measured})`}`);
  }
}
