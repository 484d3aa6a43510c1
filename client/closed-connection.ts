/** Ends calls to Temporal that are retried after their connection was closed. */
import type { ConnectionOptions } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type EndedCall = Pick<ReturnType<Interceptor>, 'start' | 'sendMessage' | 'halfClose'>;

/** gRPC's status for a call that was cancelled, which the SDK does not retry. */
const CANCELLED = 1;

/**
 * Creates an interceptor that ends calls once the connection is closed. It must come after the interceptor that retries,
 * because that one retries from a timer, where the error of a closed channel would end the process.
 */
export function endCallsOnceClosed(isClosed: () => boolean): Interceptor {
  const intercept = (...[options, nextCall]: Parameters<Interceptor>) =>
    isClosed() ? (cancelledCall() as ReturnType<typeof nextCall>) : nextCall(options);
  return intercept as Interceptor;
}

/** Returns a call that ends at once. The retrying interceptor uses only these methods of a call. */
function cancelledCall(): EndedCall {
  return {
    start: (metadata, listener) =>
      listener?.onReceiveStatus?.({ code: CANCELLED, details: 'the connection was closed', metadata }),
    sendMessage: () => undefined,
    halfClose: () => undefined,
  };
}
