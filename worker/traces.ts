/** Continues traces in a worker: with spans of workflows, which arrive through a sink, and spans of activities. */
import type { Info } from '@temporalio/activity';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import { migrationOfWorkflow } from '../domain/migration/temporal-names';
import { parseTraceparent, sliceIds, TRACE_HEADER } from '../domain/text/trace-context';
import type { SpanAttributes } from '../observability/spans';
import { inSpan, isTracing, startSpan } from '../observability/tracing';
import type { Activities } from '../activities';
import type { Step } from '../domain/migration/steps';
import { SLICE_ACTIVITIES } from '../workflows/messages';
import type { TraceSinks } from '../workflows/traces';

/** Exports the spans of workflows. Without tracing, drops them. */
export const TRACE_SINKS: InjectedSinks<TraceSinks> = {
  traces: {
    span: {
      fn: ({ workflowId, runId }, { name, traceparent, parent, startMs, endMs, hasFailed }) => {
        const ids = parseTraceparent(traceparent);
        if (!ids) return;
        const attributes = workflowAttributes(workflowId, runId);
        startSpan({ name, parent, ids, startMs, attributes })?.end(failure(hasFailed), endMs);
      },
    },
    slice: {
      fn: ({ workflowId, runId }, { name, activityId, startMs, endMs, hasFailed }) => {
        const attributes = workflowAttributes(workflowId, runId);
        const ids = sliceIds(runId, activityId);
        startSpan({ name: `slice ${name}`, ids, startMs, attributes })?.end(failure(hasFailed), endMs);
      },
    },
  },
};

/**
 * The step of the activities that run only in one step. `preflight` is not among them: it belongs to step 1, but also
 * runs in later steps, each time details have changed.
 */
export const STEP_OF_ACTIVITY: Partial<Record<keyof Activities, Step>> = {
  chooseFirstCompany: 'migrate-first-company',
  advanceFirstCompany: 'migrate-first-company',
  beginRun: 'complete-migration',
  importSlice: 'complete-migration',
};

/**
 * Runs an activity in a span if a decision or the start of the migration has caused it, or if it works on a slice. Adds
 * the step to the SDK's log lines of activities.
 */
export const traceActivities: ActivityInterceptorsFactory = ({ info }) => ({
  outbound: {
    getLogAttributes: (attributes, next) => {
      const step = STEP_OF_ACTIVITY[info.activityType as keyof Activities];
      return next({ ...attributes, ...(step && { step }) });
    },
  },
  inbound: {
    execute: (input, next) => {
      if (!isTracing()) return next(input);
      const { activityType, attempt } = info;
      const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
      const parent = traceparentIn(input.headers) ?? sliceTraceparent(info);
      if (parent === undefined) return next(input);
      const step = STEP_OF_ACTIVITY[activityType as keyof Activities];
      const attributes = {
        ...workflowAttributes(workflowId, runId),
        ...(step && { 'tokenferry.step': step }),
        'tokenferry.attempt': attempt,
      };
      return inSpan({ name: `activity ${activityType}`, parent, attributes }, () => next(input));
    },
  },
});

function traceparentIn(headers: Headers): string | undefined {
  const header = headers[TRACE_HEADER];
  if (!header) return undefined;
  const value: unknown = defaultPayloadConverter.fromPayload(header);
  return typeof value === 'string' && parseTraceparent(value) ? value : undefined;
}

/**
 * Returns the context of the slice's own span; undefined if the activity does not work on a slice. The worker that runs
 * the slice's workflow exports this span when the slice has ended. The sampler decides from the trace's id
 * whether to export a trace, so both workers decide alike.
 */
function sliceTraceparent({ activityType, activityId, workflowExecution }: Info): string | undefined {
  if (!workflowExecution || !SLICE_ACTIVITIES.includes(activityType)) return undefined;
  return startSpan({ name: activityType, ids: sliceIds(workflowExecution.runId, activityId) })?.traceparent;
}

function workflowAttributes(workflowId: string, runId: string): SpanAttributes {
  const migration = migrationOfWorkflow(workflowId);
  return { ...(migration !== undefined && { 'tokenferry.migration': migration }), 'tokenferry.run': runId };
}

function failure(hasFailed: boolean): SpanAttributes {
  return hasFailed ? { 'error.type': 'failed' } : {};
}
