/** Carries out portal requests, and answers each of them, even if it fails. */
import { LedgerBehind, MigrationClosed, NoSuchMigration, readReport } from '../../client';
import { reportPieces } from '../../client/report-formats';
import { ReportRequestSchema, type RequestAnswer } from '../../portal/contract/requests';
import {
  answerPortalRequest,
  MAX_ATTEMPTS,
  postponePortalRequest,
  readOutcome,
  StagingFull,
  type PortalRequest,
} from '../../store';
import { AGAIN_AFTER_MS, failed, nameOf, type PortalContext } from './context';
import { storeApplication, storeCredentials } from './credentials';
import { decide } from './decisions';
import { storeManifestPart } from './manifest';

/** After this time, a request that no worker could carry out is answered as failed. In milliseconds. */
const GIVE_UP_AFTER_MS = 3 * 60_000;
/** The maximum length of a report, in characters. Larger reports would fill the memory of the portal. */
const MAX_REPORT_LENGTH = 20_000_000;

/**
 * Carries out a request and answers it. If a later attempt can succeed, does not answer the request; after a pause, a
 * worker takes it again. Until the request is answered, the person's next requests to the migration wait.
 *
 * @returns true if the request was answered
 */
export async function handleRequest(context: PortalContext, request: PortalRequest): Promise<boolean> {
  const { ferry, log } = context;
  const { id, kind, migrationId } = request;
  const answer = await answerTo(context, request);
  if (answer === null) {
    await postponePortalRequest(ferry.db, request, AGAIN_AFTER_MS);
    return false;
  }
  const isGivenUp = answer === GIVEN_UP || answer === UNKNOWN_OUTCOME;
  const isFirst = await answerPortalRequest(ferry.db, id, answer, isGivenUp);
  const facts = { request: id, kind, migration: migrationId };
  // The text can contain a name or a reason, so only the outcome is logged.
  if (isFirst && isGivenUp) log.error(facts, 'gave up on a portal request');
  else if (isFirst) log.info({ ...facts, outcome: answer.outcome }, 'portal request answered');
  return true;
}

async function answerTo(context: PortalContext, request: PortalRequest): Promise<RequestAnswer | null> {
  if (request.attempts > MAX_ATTEMPTS) return answerWithoutTrying(context, request);
  const isLate = Date.now() - request.createdAt.getTime() > GIVE_UP_AFTER_MS;
  try {
    const answer = await carryOut(context, request);
    return answer ?? (isLate ? UNKNOWN_OUTCOME : null);
  } catch (error) {
    const known = expectedFailure(error);
    if (known) return known;
    const { id, kind, migrationId } = request;
    context.log.warn(
      { request: id, kind, migration: migrationId, reason: nameOf(error) },
      'a portal request could not be carried out',
    );
    return isLate ? GIVEN_UP : null;
  }
}

/** Returns the decision's outcome if the ledger has it from an earlier attempt; otherwise {@link GIVEN_UP}. */
async function answerWithoutTrying(
  { ferry }: PortalContext,
  { kind, migrationId, decisionId }: PortalRequest,
): Promise<RequestAnswer> {
  const isDecision = kind === 'decide' || kind === 'application';
  const outcome = isDecision && decisionId !== null ? await readOutcome(ferry.db, migrationId, decisionId) : null;
  return outcome ? { outcome: outcome.applied ? 'applied' : 'refused', text: outcome.text } : GIVEN_UP;
}

/** Asks the person to look at the migration first, because a decision may have been sent before the failure. */
const GIVEN_UP = failed(
  'the request could not be finished because of a technical problem; see what the migration shows before you try again, or ask your contact',
);
const UNKNOWN_OUTCOME = failed(
  'the decision was sent, but the migration has not answered yet; see what the migration shows before you decide again',
);

async function carryOut(context: PortalContext, request: PortalRequest): Promise<RequestAnswer | null> {
  switch (request.kind) {
    case 'decide':
      return decide(context, request);
    case 'credentials':
      return storeCredentials(context, request);
    case 'application':
      return storeApplication(context, request);
    case 'manifest':
      return storeManifestPart(context, request);
    case 'report':
      return writeReport(context, request);
  }
}

async function writeReport({ ferry }: PortalContext, { migrationId, body }: PortalRequest): Promise<RequestAnswer> {
  const parsed = ReportRequestSchema.safeParse(body);
  if (!parsed.success) return failed('the report is not available in this format');
  const { format } = parsed.data;
  const report = await readReport(ferry, migrationId);
  const pieces: string[] = [];
  let length = 0;
  for await (const piece of reportPieces(report, format === 'markdown' ? 'md' : format)) {
    length += piece.length;
    if (length > MAX_REPORT_LENGTH) return failed('the report is too large for the portal; ask your contact for it');
    pieces.push(`${piece}\n`);
  }
  return { outcome: 'done', text: 'the report is ready', content: pieces.join('') };
}

function expectedFailure(error: unknown): RequestAnswer | null {
  if (error instanceof StagingFull)
    return failed(
      'the data was not stored, because too much supplied data is waiting for a decision; use a smaller file, or try again in a day',
    );
  if (error instanceof MigrationClosed) return failed('the migration has ended');
  if (error instanceof NoSuchMigration) return failed('the migration was not found; ask your contact');
  if (error instanceof LedgerBehind)
    return failed(
      'the records of the migration are out of date, so until they are repaired, the migration can only be paused or cancelled; ask your contact to repair the records',
    );
  return null;
}
