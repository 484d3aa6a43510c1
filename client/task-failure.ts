import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow';
import { UnknownPayloadKey } from '../security';
import type { MigrationClient } from './open';

/** Temporal tries a failed task of a workflow again for ever, and writes down the first of its failures. */
const LOOKED_THROUGH = 5;

/** Why no worker gets any further with a migration: in the words of the failure, as far as it can be read here. */
export async function readTaskFailure({ temporal }: MigrationClient, migrationId: string): Promise<string> {
  const { namespace, loadedDataConverter } = temporal.options;
  const { history } = await temporal.workflowService.getWorkflowExecutionHistoryReverse({
    namespace,
    execution: { workflowId: migrationId },
    maximumPageSize: LOOKED_THROUGH,
  });
  const failed = history?.events?.find((event) => event.workflowTaskFailedEventAttributes);
  const { failure = null } = failed?.workflowTaskFailedEventAttributes ?? {};
  const error = await decodeOptionalFailureToOptionalError(loadedDataConverter, failure).catch(unknownKey);
  const why = error === undefined ? 'the log of the worker says why' : error.message;
  return `the worker cannot go on: ${why}`;
}

/** A failure that cannot be read here says so in its place. */
export function unknownKey(error: unknown): Error {
  if (error instanceof UnknownPayloadKey) return error;
  throw error;
}
