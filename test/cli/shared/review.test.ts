/** The content that a person sees before deciding on a step. */
import { stripVTControlCharacters } from 'node:util';
import type { MigrationClient } from '../../../client';
import { readReview } from '../../../cli/shared/review';
import { Output } from '../../../cli/terminal/output';
import type { Preflight } from '../../../domain/migration/preflight-result';
import type { Step } from '../../../domain/migration/steps';
import { progressOf, type Progress } from '../../../domain/progress/progress';
import { createMovableMigration, manifestRows, updateRow, useLedger } from '../../support/migrations/ledger';
import {
  approve,
  counts,
  decideAll,
  firstCompany,
  migrationPlan,
  preflight,
  stateAt,
} from '../../support/migrations/migration-states';
import { capturedStream } from '../captured-terminal';

const ledger = useLedger();

/** Returns the printed review of step 1. */
function detailsReview(details: Preflight): Promise<string> {
  const progress = progressOf(migrationPlan(), stateAt('supply-details', { preflight: details }));
  // The review of this step reads nothing, so the client can be empty.
  return printedReview({} as MigrationClient, progress, 'supply-details');
}

async function printedReview(ferry: MigrationClient, progress: Progress, step: Step): Promise<string> {
  const review = await readReview(ferry, progress, step);
  const stdout = capturedStream();
  review.print(new Output({ stdout, stderr: stdout }, false));
  return stripVTControlCharacters(stdout.text);
}

test('the review of the details shows the warnings of the preflight, because an approval accepts them', async () => {
  const details = preflight({ warnings: ['13 names will be stored without some letters'] });
  expect(await detailsReview(details)).toContain('! 13 names will be stored without some letters');
});

test('the review of the details says that no manifest has been supplied, instead of a supplier', async () => {
  const text = await detailsReview(preflight({ companies: 0, manifestDigest: null, suppliedBy: null }));
  expect(text).toContain('  Manifest: none has been supplied\n');
  expect(text).not.toMatch(/0 companies|supplied by/);
});

test('the review of the handover says what has changed since the other side signed off', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(2));
  await updateRow(ledger.db, id, 1, { state: 'moved' });
  await updateRow(ledger.db, id, 2, { state: 'failed', failure: 'wrong-organization', sync_started_at: new Date() });
  const last = stateAt('complete-migration', {
    ...{ counts: counts({ total: 2, moved: 1, failed: 1 }), firstCompany: firstCompany() },
  });
  const reviewOf = (state: typeof last) =>
    printedReview(
      { db: ledger.db } as MigrationClient,
      progressOf(migrationPlan({ migrationId: id }), state),
      'complete-migration',
    );
  expect(await reviewOf(last)).not.toContain('signed off');
  expect(await reviewOf(decideAll(last, approve('complete-migration', 'client')))).toMatch(
    new RegExp(
      `The client signed off at .*, before these outcomes: not moved: c2\\. If the client no longer accepts the result, reject the handover; .*: ferry reject ${id} complete-migration --reason "why"`,
    ),
  );
});
