/** Turns failed calls to the service into failures that tell Temporal their type and when to try again. */
import { ApplicationFailure } from '@temporalio/activity';
import { CompanyDataError } from '../company-data-client';

type AnyActivities = Readonly<Record<string, (input: never) => Promise<unknown>>>;

/**
 * Wraps activities so that the failure of a call to the service has a type, and the next attempt begins only after the
 * time for which the service asks us to wait. Temporal waits, because an activity that waits would occupy a slot of its
 * worker. Every such failure can be retried. If a call to the service fails in a way that must not be retried, the
 * activity returns the problem instead of throwing.
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

/** Creates a failure without the error's cause, because the text of the cause might contain secrets. */
function failureOf(error: CompanyDataError): ApplicationFailure {
  const { message, name, retryAfterMs } = error;
  return ApplicationFailure.create({
    message,
    type: name,
    ...(retryAfterMs === undefined ? {} : { nextRetryDelay: retryAfterMs }),
  });
}
