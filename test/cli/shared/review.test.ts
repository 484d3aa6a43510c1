/** The content that a person sees before deciding on a step. */
import { stripVTControlCharacters } from 'node:util';
import type { MigrationClient } from '../../../client';
import { readReview } from '../../../cli/shared/review';
import { Output } from '../../../cli/terminal/output';
import type { Preflight } from '../../../domain/migration/preflight-result';
import { progressOf } from '../../../domain/progress/progress';
import { migrationPlan, preflight, stateAt } from '../../support/migrations/migration-states';
import { capturedStream } from '../captured-terminal';

/** Returns the printed review of step 1. */
async function detailsReview(details: Preflight): Promise<string> {
  const progress = progressOf(migrationPlan(), stateAt('supply-details', { preflight: details }));
  // The review of this step reads nothing, so the client can be empty.
  const review = await readReview({} as MigrationClient, progress, 'supply-details');
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
