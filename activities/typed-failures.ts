/** What a failed activity tells Temporal: of which kind it is, and when trying again is welcome. */
import { ApplicationFailure } from '@temporalio/activity';
import { CompanyDataError } from '../company-data-client';

type AnyActivities = Readonly<Record<string, (input: never) => Promise<unknown>>>;

/**
 * Activities whose calls to the service fail with the failure's type, and wait before the next attempt as long as the
 * service asks for: a long wait is Temporal's timer, which holds no slot of a worker. They may always be tried again;
 * what is not to be is for their workflow's retry policy, or is not thrown but answered.
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

/** Its message names the call and what was answered; no cause, whose words nobody has looked through for secrets. */
function failureOf(error: CompanyDataError): ApplicationFailure {
  const { message, name, retryAfterMs } = error;
  return ApplicationFailure.create({
    message,
    type: name,
    ...(retryAfterMs === undefined ? {} : { nextRetryDelay: retryAfterMs }),
  });
}
