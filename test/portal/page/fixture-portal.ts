/** A fake portal, which serves the built page. The test sets its answers. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { hashPortalToken } from '../../../security';
import { signInProblem } from '../../../domain/migration/sign-in';
import type { RequestAnswer } from '../../../portal/contract/requests';
import type { MigrationView } from '../../../portal/contract/migration-view';
import type { PortalSession, SignInAgain } from '../../../portal/contract/session';
import { sampleCompanies, sampleView, type Company } from './sample-view';

const PAGE = path.join(__dirname, '../../../dist/portal/page');
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

export interface SentRequest {
  readonly path: string;
  readonly body: Record<string, unknown>;
}

export class FixturePortal {
  view: MigrationView = sampleView();
  companies: Company[] = sampleCompanies(60);
  isCurrent = true;
  session: PortalSession | null = {
    migrationId: 'kite',
    person: 'Cleo',
    role: 'client',
    publicKey: null,
    isKeyConfirmed: true,
    expiresAt: '2027-01-01T00:00:00.000Z',
  };
  /** True if support has confirmed the key of the next person who uses the invitation. */
  isKeyConfirmed = true;
  /** The refusal of an invitation; null accepts it. */
  invitationRefusal: { readonly status: number; readonly error: string } | null = null;
  /** The refusal of a sign-in with a key; null accepts a valid signature. */
  renewalRefusal: { readonly status: number; readonly error: string; readonly advice?: string } | null = null;
  answer: (request: SentRequest) => RequestAnswer = () => ({ outcome: 'applied', text: 'done' });
  /** Returns true to destroy the connection of a request instead of answering the request. */
  losesConnection: (request: SentRequest) => boolean = () => false;
  /** True to answer every request with the status 503, as a load balancer does while the portal is down. */
  isDown = false;
  /** The paths of the requests that were answered with the status 503 because of `isDown`. */
  readonly refusedWhileDown: string[] = [];
  readonly sent: SentRequest[] = [];
  /** The compressed size in bytes of each file that was sent, by path. */
  readonly transferred = new Map<string, number>();
  private readonly streams = new Set<ServerResponse>();
  private readonly server: Server = createServer((request, response) => void this.handle(request, response));

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** Shows a changed view in every open page. */
  publish(changes: Partial<MigrationView>): void {
    this.view = { ...this.view, ...changes };
    for (const stream of this.streams) this.sendView(stream);
  }

  /** Tells every open page since when the portal could not read its database; null if it can. */
  sendReading(unreadSince: string | null): void {
    for (const stream of this.streams) stream.write(`event: reading\ndata: ${JSON.stringify({ unreadSince })}\n\n`);
  }

  /** Ends the streams of all pages, as a portal that restarts does. */
  dropStreams(): void {
    for (const stream of this.streams) stream.end();
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://portal');
    const body = request.method === 'POST' ? await readJson(request) : {};
    response.setHeader('content-security-policy', POLICY);
    if (this.isDown) {
      this.refusedWhileDown.push(url.pathname);
      return this.send(response, 503, { error: 'The portal is down.' });
    }
    if (!url.pathname.startsWith('/api/')) return this.sendFile(url.pathname, response);
    if (request.method !== 'GET' && request.headers['x-tokenferry-portal'] !== '1')
      return this.send(response, 403, { error: 'The header is missing.' });
    if (url.pathname === '/api/session' && request.method === 'POST') return this.redeem(body, response);
    if (url.pathname === '/api/session/renewal') return this.renew(body as unknown as SignInAgain, response);
    if (this.session === null) return this.send(response, 401, { error: 'You are not signed in.' });
    switch (url.pathname) {
      case '/api/session':
        if (request.method !== 'DELETE') return this.send(response, 200, this.session);
        this.session = null;
        response.writeHead(204).end();
        return;
      case '/api/migration':
        return this.send(response, 200, this.answerOfView());
      case '/api/events':
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        this.streams.add(response);
        response.on('close', () => this.streams.delete(response));
        return this.sendView(response);
      case '/api/companies':
        return this.send(response, 200, this.page(url.searchParams));
      default:
        if (request.method === 'POST') return this.take({ path: url.pathname, body }, response);
        response.writeHead(404).end();
    }
  }

  private redeem(body: Record<string, unknown>, response: ServerResponse): void {
    this.sent.push({ path: '/api/session', body });
    const refusal = this.invitationRefusal;
    if (refusal !== null) return this.send(response, refusal.status, { error: refusal.error });
    this.session = {
      ...{ migrationId: this.view.migrationId, person: 'Cleo', role: 'client', isKeyConfirmed: this.isKeyConfirmed },
      ...{ publicKey: String(body['publicKey']), expiresAt: '2027-01-01T00:00:00.000Z' },
    };
    this.send(response, 200, this.session);
  }

  private renew(body: SignInAgain, response: ServerResponse): void {
    this.sent.push({ path: '/api/session/renewal', body });
    if (this.renewalRefusal !== null) return this.send(response, this.renewalRefusal.status, this.renewalRefusal);
    const { migrationId, publicKey, token, signedAt, signature } = body;
    const signIn = { migrationId, publicKey, sessionHash: hashPortalToken(token).toString('hex'), signedAt };
    const problem = signInProblem(signIn, signature, new Date());
    if (problem !== null) return this.send(response, 403, { error: `The signature is wrong: ${problem}.` });
    this.session = {
      ...{ migrationId, person: 'Cleo', role: 'client', isKeyConfirmed: true },
      ...{ publicKey, expiresAt: '2027-01-01T00:00:00.000Z' },
    };
    this.send(response, 200, this.session);
  }

  private take(request: SentRequest, response: ServerResponse): void {
    this.sent.push(request);
    if (this.losesConnection(request)) return void response.destroy();
    this.send(response, 200, { id: randomUUID(), answer: this.answer(request) });
  }

  private page(query: URLSearchParams): object {
    const [state, search] = [query.get('state'), (query.get('search') ?? '').toLowerCase()];
    const limit = Number(query.get('limit') ?? 50);
    const found = this.companies.filter(
      (each) =>
        each.row > Number(query.get('after') ?? 0) &&
        (state === null || each.state === state) &&
        (query.get('exceptions') === null || each.problem !== null) &&
        `${each.name} ${each.reference}`.toLowerCase().includes(search),
    );
    return { companies: found.slice(0, limit), hasMore: found.length > limit };
  }

  private answerOfView(): object {
    return { view: this.view, writtenAt: '2026-11-24T01:00:00.000Z', isCurrent: this.isCurrent };
  }

  private sendView(stream: ServerResponse): void {
    stream.write(`event: migration\ndata: ${JSON.stringify(this.answerOfView())}\n\n`);
  }

  private sendFile(name: string, response: ServerResponse): void {
    const file = name === '/' ? '/index.html' : name;
    try {
      const content = gzipSync(readFileSync(path.join(PAGE, path.normalize(file))));
      this.transferred.set(file, content.length);
      response.writeHead(200, {
        'content-type': `${TYPES[path.extname(file)] ?? 'text/plain'}; charset=utf-8`,
        'content-encoding': 'gzip',
      });
      response.end(content);
    } catch {
      response.writeHead(404).end();
    }
  }

  private send(response: ServerResponse, status: number, body: object): void {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString('utf8')) as Record<string, unknown>;
}
