/**
 * Decisions, sealed credentials, the sealed application, the manifest, and reports: requests that workers carry out.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  ErrorSchema,
  PORTAL_REQUESTS,
  REPORT_FORMATS,
  RequestStatusSchema,
  type PortalRequestKind,
  type RequestAnswer,
} from '../../contract/requests';
import { reportName, type ReportFormat } from '../../contract/file-names';
import { assertNotEnded } from '../access';
import type { Access, Api, SignedIn } from '../api';
import type { PortalContext } from '../context';
import { noSuchReport, noSuchRequest, reportNotReady, type PortalError } from '../errors';
import { REPORT_POLICY } from '../headers';
import { MAX_CREDENTIALS_BYTES, MAX_MANIFEST_BYTES } from '../limits';
import { submitAndWait, type RequestStatus } from '../requests';

const WAITING =
  'Waits up to 15 seconds for the answer. 202: there is no answer yet; ask for it with `GET /api/requests/{id}`.';
const DESCRIPTION =
  `${WAITING} The same request can be sent again, for example after a lost connection: it is carried out again only ` +
  'if its answer was `failed` or is more than a day old.';
const RESPONSES = {
  200: RequestStatusSchema.describe('The answer to the request.'),
  202: RequestStatusSchema,
  413: ErrorSchema,
  429: ErrorSchema,
};

/** A route with which a person sends requests of one kind. */
interface Submission {
  readonly url: string;
  readonly kind: PortalRequestKind;
  /** Default: `client`. */
  readonly access?: Access;
  readonly summary: string;
  readonly description: string;
  /** Default: `Decisions`. */
  readonly tag?: string;
  /** Only for large bodies. Default: `MAX_BODY_BYTES`. */
  readonly bodyLimit?: number;
}

const SUBMISSIONS: readonly Submission[] = [
  {
    url: '/api/decisions',
    kind: 'decide',
    summary: 'Make a decision, signed by the person who makes it',
    description: DESCRIPTION,
  },
  {
    url: '/api/credentials',
    kind: 'credentials',
    summary: 'Supply sealed credentials, or a part of them',
    description: `At most 1,000 credentials and 30 MB. The credentials count once the decision \`credentialsSupplied\` or \`replaceCredential\` is applied. ${DESCRIPTION}`,
    bodyLimit: MAX_CREDENTIALS_BYTES,
  },
  {
    url: '/api/application',
    kind: 'application',
    summary: 'Supply the application with its sealed client secret',
    description: DESCRIPTION,
  },
  {
    url: '/api/manifest',
    kind: 'manifest',
    summary: 'Supply a part of the manifest',
    description: `At most 1,000 rows and 4 MB. The rows count once the decision \`manifestSupplied\` is applied. ${DESCRIPTION}`,
    bodyLimit: MAX_MANIFEST_BYTES,
  },
  {
    url: '/api/reports',
    kind: 'report',
    access: 'session',
    summary: 'Request the handover report',
    description: `${WAITING} Each request creates a report. Download it with \`GET /api/reports/{id}\`.`,
    tag: 'Report',
  },
];

const IdSchema = z.object({ id: z.uuid() });
const REPORT_TYPES: Readonly<Record<ReportFormat, string>> = {
  html: 'text/html; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
};

export function requestRoutes(app: Api, context: PortalContext): void {
  const { db } = context;
  for (const { url, kind, access = 'client', summary, description, tag = 'Decisions', bodyLimit } of SUBMISSIONS)
    app.post(
      url,
      {
        config: { access, isLargeBody: bodyLimit !== undefined },
        ...(bodyLimit !== undefined && { bodyLimit }),
        schema: {
          summary,
          description,
          tags: [tag],
          body: PORTAL_REQUESTS[kind],
          response: bodyLimit === undefined ? RESPONSES : { ...RESPONSES, 503: ErrorSchema },
        },
      },
      async (request, reply) => submit(kind, request.body, request, reply),
    );

  app.get(
    '/api/requests/:id',
    {
      config: { access: 'session' },
      schema: {
        summary: 'Read the answer to a request',
        description:
          'The answer is null until a worker has answered the request. The portal keeps an answer for a day. When a person requests a report, the portal deletes all but the latest three of their earlier reports.',
        tags: ['Decisions'],
        params: IdSchema,
        response: {
          200: RequestStatusSchema.describe('The answer, or null while there is none.'),
          404: ErrorSchema.describe('The person has not sent such a request, or its answer is no longer stored.'),
        },
      },
    },
    async ({ signedIn, params: { id } }) => {
      const answer = await answerTo(signedIn, id);
      return statusOf({ id, answer });
    },
  );

  app.get(
    '/api/reports/:id',
    {
      config: { access: 'session', isLargeAnswer: true },
      schema: {
        summary: 'Download a report',
        tags: ['Report'],
        params: IdSchema,
        querystring: z.strictObject({
          format: z.enum(REPORT_FORMATS).default('html').describe('The format in which the report was requested.'),
          open: z.stringbool().default(false).describe('Shows the report in the browser instead of downloading it.'),
        }),
        response: {
          200: {
            description: 'The report, in the requested format.',
            content: { 'text/html': { schema: z.string() } },
          },
          404: ErrorSchema.describe(
            'The person has no such report, or the report is not ready yet or no longer stored.',
          ),
          503: ErrorSchema,
        },
      },
    },
    async ({ signedIn, params, query }, reply) => {
      const answer = await answerTo(signedIn, params.id, noSuchReport);
      if (answer === null) throw reportNotReady();
      if (answer.content === undefined) throw noSuchReport();
      const name = reportName(signedIn.migrationId, query.format);
      return reply
        .type(REPORT_TYPES[query.format])
        .headers({
          'content-security-policy': REPORT_POLICY,
          'content-disposition': `${query.open ? 'inline' : 'attachment'}; filename="${name}"`,
        })
        .send(answer.content);
    },
  );

  /**
   * @throws {PortalError} 401 if the session has ended, 404 if the person has not sent this request or it is no longer
   * stored
   */
  async function answerTo(
    session: SignedIn,
    id: string,
    missing: () => PortalError = noSuchRequest,
  ): Promise<RequestAnswer | null> {
    const answer = await db.answer(session.hash, id);
    if (answer !== undefined) return answer;
    await assertNotEnded(db, session);
    throw missing();
  }

  async function submit(
    kind: PortalRequestKind,
    body: unknown,
    { signedIn, raw, log }: FastifyRequest,
    reply: FastifyReply,
  ): Promise<RequestStatus> {
    const status = await submitAndWait(context, signedIn, { kind, body }, () => raw.destroyed && !raw.complete);
    log.info(
      { portalRequest: status.id, kind, outcome: status.answer?.outcome ?? 'waiting' },
      'passed a portal request to the workers',
    );
    void reply.code(status.answer === null ? 202 : 200);
    return statusOf(status);
  }
}

/** Leaves out the content of a report, which is downloaded with `GET /api/reports/{id}`. */
function statusOf({ id, answer }: RequestStatus): RequestStatus {
  if (answer === null) return { id, answer };
  const { content: _content, ...rest } = answer;
  return { id, answer: rest };
}
