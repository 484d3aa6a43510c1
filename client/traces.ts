/** Passes the current trace on to the workflow that a client starts or sends a message to. */
import type { Headers, WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { TRACE_HEADER } from '../domain/text/trace-context';
import { currentTraceparent, inSpan } from '../observability/tracing';

export const traceMessages: WorkflowClientInterceptor = {
  start: (input, next) => inSpan({ name: `start ${input.workflowType}`, kind: 'client' }, () => next(withTrace(input))),
  signal: (input, next) => inSpan({ name: `signal ${input.signalName}`, kind: 'client' }, () => next(withTrace(input))),
  startUpdate: (input, next) =>
    inSpan({ name: `update ${input.updateName}`, kind: 'client' }, () => next(withTrace(input))),
};

function withTrace<T extends { readonly headers: Headers }>(input: T): T {
  const traceparent = currentTraceparent();
  if (traceparent === undefined) return input;
  const header = defaultPayloadConverter.toPayload(traceparent);
  return { ...input, headers: { ...input.headers, [TRACE_HEADER]: header } };
}
