/**
 * Browsers that watch one migration. Each sends the requests of the portal's page (portal/page/main.ts and live.ts):
 *
 * - the page, the session, the migration and both lists of companies when the page loads, then a stream of events
 * - both lists within 8 seconds after an event with changed counts
 * - the session every 30 seconds
 *
 * Each browser has its own connections, and its own address in `X-Forwarded-For`.
 */
import { randomBytes } from 'node:crypto';
import { Agent, request, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserFigures, BrowsersCalls, BrowsersSettings } from './browsers';
import { serveParent } from './child-process';
import { usage } from './usage';

const LISTS_WITHIN_MS = 8_000;
const SESSION_EVERY_MS = 30_000;
const SIGN_INS_AT_ONCE = 20;
const LISTS = ['/api/companies?exceptions=true&after=0&limit=50', '/api/companies?after=0&limit=50'];

let pageMs: number[] = [];
let apiMs: number[] = [];
let events = 0;
let openStreams = 0;
let failures: Record<string, number> = {};
let isStopped = false;

const failed = (why: string): void => void (failures[why] = (failures[why] ?? 0) + 1);

class Browser {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 4 });
  private readonly headers: Record<string, string>;
  private stream: IncomingMessage | undefined;
  private counts = '';
  private updating: NodeJS.Timeout | undefined;

  constructor(
    private readonly url: string,
    number: number,
  ) {
    this.headers = { 'x-forwarded-for': `10.0.${number >> 8}.${number & 255}`, 'accept-encoding': 'gzip, br' };
  }

  async signIn(invitation: string): Promise<void> {
    const body = JSON.stringify({ invitation, publicKey: randomBytes(32).toString('hex'), as: 'token' });
    const answer = await fetch(`${this.url}/api/session`, {
      ...{ method: 'POST', body },
      headers: { ...this.headers, 'content-type': 'application/json', 'x-tokenferry-portal': '1' },
    });
    if (answer.status !== 200) throw new Error(`signing in: ${answer.status} ${await answer.text()}`);
    const { token } = (await answer.json()) as { readonly token: string };
    this.headers['authorization'] = `Bearer ${token}`;
  }

  /** Loads the page, and opens its stream of events, which stays open until the next load. */
  async load(): Promise<void> {
    this.stream?.destroy();
    const startedAt = performance.now();
    await this.get('/');
    await this.get('/api/session');
    await this.get('/api/migration');
    await Promise.all(LISTS.map((path) => this.get(path)));
    pageMs.push(performance.now() - startedAt);
    await this.watch();
  }

  /** Loads the page repeatedly, and checks the session in between. */
  async run(reloadEveryMs: number): Promise<void> {
    for (let reloadAt = Date.now() + reloadEveryMs * Math.random(); ;) {
      await delay(Math.min(SESSION_EVERY_MS, Math.max(0, reloadAt - Date.now())), undefined, { ref: false });
      if (isStopped) return;
      if (Date.now() < reloadAt) await this.get('/api/session');
      else {
        reloadAt = Date.now() + reloadEveryMs * (0.5 + Math.random());
        await this.load();
      }
    }
  }

  stop(): void {
    clearTimeout(this.updating);
    this.stream?.destroy();
    this.agent.destroy();
  }

  private async watch(): Promise<void> {
    const stream = await this.open('/api/events', false);
    if (stream === null) return;
    this.stream = stream;
    openStreams += 1;
    stream.setEncoding('latin1');
    let text = '';
    stream.on('data', (piece: string) => {
      text += piece;
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const event = text.slice(0, end);
        if (/^event: migration$/m.test(event)) this.onEvent(event);
        text = text.slice(end + 2);
      }
    });
    stream.on('error', () => undefined);
    stream.on('close', () => (openStreams -= 1));
  }

  private onEvent(event: string): void {
    events += 1;
    const start = event.indexOf('"counts":{');
    const counts = event.slice(start, event.indexOf('}', start));
    const haveChanged = this.counts !== '' && counts !== this.counts;
    this.counts = counts;
    if (haveChanged)
      this.updating ??= setTimeout(
        () => {
          this.updating = undefined;
          for (const path of LISTS) void this.get(path);
        },
        LISTS_WITHIN_MS * (0.2 + 0.8 * Math.random()),
      );
  }

  /** Sends a request and reads the answer. Records the time of a request to the API. */
  private async get(path: string): Promise<void> {
    const startedAt = performance.now();
    const response = await this.open(path, this.agent);
    if (response === null) return;
    response.resume();
    await new Promise((resolve) => response.once('close', resolve));
    if (path !== '/') apiMs.push(performance.now() - startedAt);
  }

  /** Sends a request. Returns the response; null if the request failed or the status is not 200. */
  private async open(path: string, agent: Agent | false): Promise<IncomingMessage | null> {
    const response = await new Promise<IncomingMessage | null>((resolve) => {
      request(this.url + path, { headers: this.headers, agent }, resolve)
        .on('error', ({ message }) => {
          if (!isStopped) failed(message);
          resolve(null);
        })
        .end();
    });
    if (response === null || response.statusCode === 200) return response;
    failed(String(response.statusCode));
    response.resume();
    return null;
  }
}

let browsers: readonly Browser[] = [];

async function start({ url, invitations, reloadEveryMs }: BrowsersSettings): Promise<void> {
  browsers = invitations.map((_, number) => new Browser(url, number));
  const waiting = browsers.map((browser, number) => ({ browser, invitation: invitations[number] ?? '' }));
  const open = async (): Promise<void> => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      await next.browser.signIn(next.invitation);
      await next.browser.load();
    }
  };
  await Promise.all(Array.from({ length: SIGN_INS_AT_ONCE }, open));
  for (const browser of browsers) void browser.run(reloadEveryMs);
}

const served: BrowsersCalls = {
  start,
  takeFigures: async () => {
    const figures: BrowserFigures = { pageMs, apiMs, events, openStreams, failures };
    [pageMs, apiMs, events, failures] = [[], [], 0, {}];
    return figures;
  },
  usage: async () => usage(),
};

serveParent(served, async () => {
  isStopped = true;
  for (const browser of browsers) browser.stop();
  // Exit explicitly, because interrupted requests never end.
  process.exit();
});
