/** The content that a person sees before deciding on a step. */
import { stripVTControlCharacters } from 'node:util';
import type { MigrationClient } from '../../../client';
import { readReview } from '../../../cli/shared/review';
import { Output } from '../../../cli/terminal/output';
import { progressOf } from '../../../domain/progress/progress';
import { migrationPlan, preflight, stateAt } from '../../support/migrations/migration-states';
import { capturedStream } from '../captured-terminal';

test('the review of the details shows the warnings of the preflight, because an approval accepts them', async () => {
  const details = preflight({ warnings: ['13 names will be stored without some letters'] });
  const progress = progressOf(migrationPlan(), stateAt('supply-details', { preflight: details }));
  // The review of this step reads nothing, so the client can be empty.
  const review = await readReview({} as MigrationClient, progress, 'supply-details');
  const stdout = capturedStream();
  review.print(new Output({ stdout, stderr: stdout }, false));
  expect(stripVTControlCharacters(stdout.text)).toContain('! 13 names will be stored without some letters');
});
