/** Turns failed calls to the service into failures that tell Temporal their type and when to try again. */
import { ApplicationFailure } from '@temporalio/activity';
import { CompanyDataError } from '../company-data-client';

type AnyActivities = Readonly<Record<string, (input: never) => Promise<unknown>>>;

/**
 * Wraps activities so that the failure of a call to the service has a type, and the next attempt waits for as long as
 * the service asks us to. Temporal does the waiting, because an activity that waits would occupy a slot of its worker.
 * Every such failure can be retried. If a call to the service fails in a way that must not be retried, the activity
 * returns the problem instead of throwing.
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

/** Leaves out the cause of the error, because the text of the cause has not been checked for secrets. */
function failureOf(error: CompanyDataError): ApplicationFailure {
  const { message, name, retryAfterMs } = error;
  return ApplicationFailure.create({
    message,
    type: name,
    ...(retryAfterMs === undefined ? {} : { nextRetryDelay: retryAfterMs }),
  });
}
