/** The routes that the page reads: the view of the migration, and its companies. */
import { stringify } from 'csv-stringify/sync';
import { z } from 'zod';
import { needsLink } from '../../../domain/companies/company-state';
import { stageOf } from '../../../domain/migration/terminated';
import { reconnectLinksName } from '../../contract/file-names';
import { ErrorSchema } from '../../contract/requests';
import { CompaniesSchema, CompanyFilterSchema, MigrationAnswerSchema } from '../../contract/migration-view';
import { assertNotEnded } from '../access';
import { companyOf, type PortalCompany } from '../companies';
import type { Api, SignedIn } from '../api';
import type { PortalContext } from '../context';
import type { CompanyRow, ViewRow } from '../database';
import { noSession, unavailable } from '../errors';
import { SharedReads } from '../shared-reads';

const LINKS_PER_READ = 500;

/**
 * Reads the companies that were not moved, or that were not moved yet. The database selects them only by the ledger's
 * state. Corrects the result once the migration has ended: a company that was not moved yet then counts as not moved.
 */
async function readNotMoved(
  read: (state: 'not-moved' | 'not-moved-yet') => Promise<readonly CompanyRow[]>,
  state: 'not-moved' | 'not-moved-yet',
  max: number,
): Promise<readonly CompanyRow[]> {
  const [notMoved, waiting] = [state === 'not-moved' ? await read(state) : [], await read('not-moved-yet')];
  const hasEnded = waiting.some((company) => company.hasEnded);
  if (state === 'not-moved-yet') return hasEnded ? [] : waiting;
  return hasEnded ? [...notMoved, ...waiting].sort((one, other) => one.row - other.row).slice(0, max) : notMoved;
}

type Companies = z.infer<typeof CompaniesSchema>;

export function migrationRoutes(app: Api, { db, views }: PortalContext): void {
  const sharedViews = new SharedReads<ViewRow>();
  const sharedLists = new SharedReads<Companies>();

  app.get(
    '/api/migration',
    {
      config: { access: 'session' },
      schema: {
        summary: 'Read what the page shows about the migration',
        tags: ['Migration'],
        response: {
          200: MigrationAnswerSchema.describe('The view of the migration that a worker wrote last.'),
          503: ErrorSchema,
        },
      },
    },
    async ({ signedIn }) => {
      const { hash, migrationId } = signedIn;
      const found = await sharedViews.read(migrationId, () => db.view(hash));
      if (found) return found;
      await assertNotEnded(db, signedIn);
      throw unavailable(
        'The page of this migration is not ready yet, because the migration is not answering.',
        'Try again in a few seconds. If this happens again, tell your contact.',
        2,
      );
    },
  );

  app.get(
    '/api/events',
    {
      config: { access: 'session', isStream: true },
      schema: {
        summary: 'Follow the migration (server-sent events)',
        description:
          'Sends the event `migration`, with the data of `GET /api/migration`, immediately and whenever the view changes. ' +
          'Sends the event `reading` if the portal could not read the view for 10 seconds, and when it can again: ' +
          '`unreadSince` is the time of the last read (ISO 8601, UTC), or null. ' +
          'Sends the event `ended` when the session has ended. A browser that connects again sends the header ' +
          '`Last-Event-ID`; if nothing has changed since that event, no event is sent immediately. An old view is sent ' +
          'only if no newer one is written within 6 seconds. After 15 seconds without an event, a comment is sent.',
        tags: ['Migration'],
        response: {
          200: {
            description: 'The events, until the caller disconnects or the session ends.',
            content: { 'text/event-stream': { schema: z.string() } },
          },
        },
      },
    },
    (request, reply) => {
      views.assertOneMore(request.signedIn.hash);
      reply.hijack();
      const headers = { ...reply.getHeaders(), 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
      reply.raw.writeHead(200, headers as Record<string, string>);
      reply.raw.flushHeaders();
      const { 'last-event-id': lastEventId } = request.headers;
      views.add(request.signedIn, reply.raw, typeof lastEventId === 'string' ? lastEventId : undefined);
    },
  );

  app.get(
    '/api/companies',
    {
      config: { access: 'session' },
      schema: {
        summary: 'List companies, in the order of the manifest',
        tags: ['Migration'],
        querystring: CompanyFilterSchema,
        response: { 200: CompaniesSchema.describe('The companies that match, up to `limit`.') },
      },
    },
    async ({ signedIn, query }) => {
      const key = JSON.stringify([signedIn.migrationId, query]);
      const found = await sharedLists.read(key, () => readCompanies(signedIn, query));
      if (found === undefined) throw noSession();
      return found;
    },
  );

  app.get(
    '/api/reconnect-links.csv',
    {
      config: { access: 'session', isLargeAnswer: true },
      schema: {
        summary: 'Download the links with which end customers reconnect their companies',
        tags: ['Migration'],
        response: {
          200: {
            description:
              'Reference, name and link of each company that its end customer has to reconnect. Leaves out companies without a link.',
            content: { 'text/csv': { schema: z.string() } },
          },
          503: ErrorSchema,
        },
      },
    },
    async ({ signedIn }, reply) => {
      const links: PortalCompany[] = [];
      for await (const row of needingAttention(signedIn)) {
        const company = companyOf(row, null);
        if (needsLink(row.state, row.failure, row.dependsOnReplaced) && company.linkUrl !== null) links.push(company);
      }
      const rows = links.map(({ reference, name, linkUrl }) => [reference, name, linkUrl ?? '']);
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="${reconnectLinksName(signedIn.migrationId)}"`)
        .send(stringify([['reference', 'name', 'link'], ...rows], { bom: true, escape_formulas: true }));
    },
  );

  async function readCompanies(
    { hash }: SignedIn,
    query: z.infer<typeof CompanyFilterSchema>,
  ): Promise<Companies | undefined> {
    const { state = null, exceptions = false, search = null, after = 0, limit } = query;
    // Reads one more row than requested, but at most 500 (the database's limit), to find out whether there are more.
    const max = Math.min(limit + 1, 500);
    const view = (await db.changedView(hash, null))?.view ?? null;
    // The database does not know that a workflow was terminated, but the worker that wrote the view does.
    const isTerminated = view !== null && stageOf(view.state) === 'terminated';
    const read = async (of: typeof state): Promise<readonly CompanyRow[]> => {
      const found = await db.companies(hash, { state: of, exceptions, search, afterRow: after, max });
      return isTerminated ? found.map((row) => ({ ...row, hasEnded: true })) : found;
    };
    const rows =
      state === 'not-moved' || state === 'not-moved-yet' ? await readNotMoved(read, state, max) : await read(state);
    // The database returns nothing for a session that has ended.
    if (rows.length === 0 && (await db.session(hash)) === undefined) return undefined;
    const companies = rows.slice(0, limit).map((row) => companyOf(row, view));
    return { companies, hasMore: rows.length > limit || (limit === max && rows.length === max) };
  }

  async function* needingAttention(session: SignedIn): AsyncGenerator<CompanyRow> {
    for (let afterRow = 0; ;) {
      const query = { state: null, exceptions: true, search: null, afterRow, max: LINKS_PER_READ };
      const rows = await db.companies(session.hash, query);
      if (rows.length === 0) await assertNotEnded(db, session);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < LINKS_PER_READ) return;
      afterRow = last.row;
    }
  }
}
