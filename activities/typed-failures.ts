/** Turns failed calls to the service into failures that tell Temporal their type and when to try again. */
import { ApplicationFailure } from '@temporalio/activity';
import { CompanyDataError } from '../company-data-client';

type AnyActivities = Readonly<Record<string, (input: never) => Promise<unknown>>>;

/**
 * Wraps activities so that a failed call to the service has a type, and the next attempt waits as long as the service
 * asks. Temporal's timer does the waiting, because it occupies no slot of a worker. Every failure is retryable: the
 * workflow's retry policy decides, and an activity returns what must not be retried instead of throwing it.
 */
export function withTypedFailures<Plain extends AnyActivities>(activities: Plain): Plain {
  const typed = Object.entries(activities).map(([name, activity]) => [
    name,
    async (input: never) => {
      try {
        return await activity(input);
      } catch (error) {
        throw error instanceof CompanyDataError ? failureOf(error) : error;
      }
    },
  ]);
  return Object.fromEntries(typed) as Plain;
}

/** The message names the call and its answer. Without the cause, because its text has not been checked for secrets. */
function failureOf(error: CompanyDataError): ApplicationFailure {
  const { message, name, retryAfterMs } = error;
  return ApplicationFailure.create({
    message,
    type: name,
    ...(retryAfterMs === undefined ? {} : { nextRetryDelay: retryAfterMs }),
  });
}
