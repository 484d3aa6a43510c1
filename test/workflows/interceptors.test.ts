/** The failure of a workflow task with an input that the worker cannot read. Tests with a server: `test/security/`. */
import { UnreadablePayload } from '../../domain/migration/decision';
import { interceptors } from '../../workflows/interceptors';

const KEY_ID = 'deadbeefdeadbeef';

test.each([
  [
    'names a payload key that the worker does not have',
    new UnreadablePayload('the message was encrypted under another key', KEY_ID),
    `A payload was encrypted under payload key ${KEY_ID}, which this worker does not have. Start every worker with that payload key as well.`,
  ],
  [
    'names no valid payload key',
    new UnreadablePayload('the message names no valid payload key, so no worker can decrypt it', ''),
    'A payload of this workflow cannot be read: the message names no valid payload key, so no worker can decrypt it',
  ],
  [
    'was altered',
    new UnreadablePayload('the message was altered'),
    'A payload of this workflow cannot be read: the message was altered',
  ],
])('the failure advises to add a payload key only if a worker can have it: an input that %s', (_, input, message) => {
  const execute = interceptors().inbound?.[1]?.execute;
  expect(() => execute?.({ args: [input], headers: {} }, () => Promise.resolve())).toThrow(message);
});
