/**
 * Traces of workflows: one for each decision, one for each start of a migration, and one for each slice that is not
 * part of such a trace.
 *
 * A process with tracing sends decisions, and the start of a migration, with a `traceparent` header. The handler of a
 * decision becomes a span. The start of a migration has no span, because a run can take weeks. Activities that are
 * scheduled while a handler or an activity of the trace is still running get the header too, so they belong to the same
 * trace. Any other slice has its own trace, whose ids every process derives from the run and the activity.
 *
 * Everything here depends only on the history, not on the configuration of the worker, so a worker with tracing can
 * replay histories of a worker without it, and vice versa. Spans leave the sandbox through a sink, which a replay does
 * not call.
 */
import {
  defaultPayloadConverter,
  proxySinks,
  workflowInfo,
  type Sinks,
  type WorkflowInterceptors,
  type Headers,
} from '@temporalio/workflow';
import {
  messageSpanId,
  parseTraceparent,
  TRACE_HEADER,
  traceparentOf,
  type TraceContext,
} from '../domain/text/trace-context';
import { SLICE_ACTIVITIES } from './messages';

/** A finished span of a workflow. */
export interface WorkflowSpan {
  readonly name: string;
  /** The span's own context, as `traceparent`. */
  readonly traceparent: string;
  /** `traceparent` of the span that caused this span. */
  readonly parent: string;
  /** Milliseconds of the workflow's time. */
  readonly startMs: number;
  readonly endMs: number;
  readonly hasFailed: boolean;
}

/** A slice with its own trace, from its scheduling to its result. */
export type SliceSpan = Pick<WorkflowSpan, 'name' | 'startMs' | 'endMs' | 'hasFailed'> & {
  readonly activityId: string;
};

export interface TraceSinks extends Sinks {
  readonly traces: {
    span(span: WorkflowSpan): void;
    slice(slice: SliceSpan): void;
  };
}

const { traces } = proxySinks<TraceSinks>();

type Interceptors = Required<WorkflowInterceptors>;
type Traced = Pick<Interceptors['inbound'][number], 'execute' | 'handleSignal' | 'handleUpdate'>;

export interface TraceInterceptors {
  readonly inbound: Traced;
  readonly outbound: Pick<Interceptors['outbound'][number], 'scheduleActivity'>;
  readonly internals: Pick<Interceptors['internals'][number], 'concludeActivation'>;
}

/** Creates the interceptors of one workflow execution. None of them affects the order in which promises resolve. */
export function traceInterceptors(): TraceInterceptors {
  /** The span to which newly scheduled activities belong; null if they belong to none. */
  let current: TraceContext | null = null;
  let running = 0;
  let received = 0;

  /** Traces the handling of a message that has the header. Activities that are scheduled meanwhile join its trace. */
  function handle<T>(name: string, headers: Headers, next: () => Promise<T>): Promise<T> {
    const parent = traceContextIn(headers);
    if (!parent) return next();
    received += 1;
    const context = { ...parent, spanId: messageSpanId(workflowInfo().runId, received) };
    current = context;
    const startMs = Date.now();
    return observe(next(), (hasFailed) => {
      if (!isLive()) return;
      const contexts = { traceparent: traceparentOf(context), parent: traceparentOf(parent) };
      traces.span({ name, ...contexts, startMs, endMs: Date.now(), hasFailed });
    });
  }

  /** Calls `end` when the promise has settled. Returns the same promise, so that a replay runs in the same order. */
  function observe<T>(promise: Promise<T>, end: (hasFailed: boolean) => void): Promise<T> {
    running += 1;
    const ended = (hasFailed: boolean): void => {
      running -= 1;
      end(hasFailed);
    };
    promise.then(
      () => ended(false),
      () => ended(true),
    );
    return promise;
  }

  return {
    inbound: {
      execute: (input, next) => {
        const parent = traceContextIn(input.headers);
        // The first activities belong to the trace. The run has no span, because it can take weeks.
        if (parent) current = parent;
        return next(input);
      },
      handleSignal: (input, next) => handle(`signal ${input.signalName}`, input.headers, () => next(input)),
      handleUpdate: (input, next) => handle(`update ${input.name}`, input.headers, () => next(input)),
    },
    outbound: {
      scheduleActivity: (input, next) => {
        if (current) {
          const header = defaultPayloadConverter.toPayload(traceparentOf(current));
          return observe(next({ ...input, headers: { ...input.headers, [TRACE_HEADER]: header } }), () => undefined);
        }
        const result = next(input);
        if (!SLICE_ACTIVITIES.includes(input.activityType)) return result;
        const activityId = input.options.activityId ?? String(input.seq);
        const startMs = Date.now();
        const end = (hasFailed: boolean): void => {
          if (isLive()) traces.slice({ name: input.activityType, activityId, startMs, endMs: Date.now(), hasFailed });
        };
        result.then(
          () => end(false),
          () => end(true),
        );
        return result;
      },
    },
    internals: {
      concludeActivation: (input, next) => {
        if (running === 0) current = null;
        return next(input);
      },
    },
  };
}

function traceContextIn(headers: Headers): TraceContext | null {
  const header = headers[TRACE_HEADER];
  if (!header) return null;
  try {
    return parseTraceparent(defaultPayloadConverter.fromPayload(header));
  } catch {
    return null; // The header was not sent by Tokenferry.
  }
}

const isLive = (): boolean => !workflowInfo().unsafe.isReplaying;
