/**
 * Sends the views of migrations to the browsers that watch them, as server-sent events.
 *
 * The views of all watched migrations are read once a second, one statement for each migration, however many browsers
 * watch it. A browser gets the view when it connects and whenever it has changed. A reader that is slower than the
 * changes gets only the latest view. Sessions that have ended lose their streams within 10 seconds. One timer serves
 * all streams.
 */
import type { Logger } from 'pino';
import type { ServerResponse } from 'node:http';
import type { SignedIn } from './api';
import type { PortalDatabase, ViewRow } from './database';
import { busy, tooMany } from './errors';
import type { PortalLimits } from './limits';

const POLL_EVERY_MS = 1_000;
/** After this many polls, the sessions are checked, and a comment keeps the streams open that have been silent. */
const POLLS_PER_SESSION_CHECK = 8;
const COMMENT_AFTER_MS = 15_000;
/** How many migrations are read at the same time. */
const READS_AT_ONCE = 4;
const COMMENT = ':\n\n';

interface Stream {
  readonly hash: Buffer;
  readonly response: ServerResponse;
  /** The text of the event that the browser has got, or is getting. */
  sent: string | undefined;
  sentAt: number;
  /** True while the socket's buffer is full. */
  isFull: boolean;
}

interface Channel {
  readonly streams: Set<Stream>;
  event: string | undefined;
}

export class LiveViews {
  private readonly channels = new Map<string, Channel>();
  private readonly perSession = new Map<string, number>();
  private count = 0;
  private polls = 0;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly db: PortalDatabase,
    private readonly limits: Pick<PortalLimits, 'streams' | 'streamsPerSession'>,
    private readonly log: Pick<Logger, 'warn'>,
  ) {}

  /** @throws {PortalError} if the session, or the portal, has too many streams */
  assertOneMore(hash: Buffer): void {
    if (this.isClosed || this.count >= this.limits.streams) throw busy(10);
    if ((this.perSession.get(keyOf(hash)) ?? 0) >= this.limits.streamsPerSession)
      throw tooMany('You have opened the portal too often.', 60);
  }

  /** Sends events until the browser or the portal closes the response, whose headers have been written. */
  add({ hash, migrationId }: SignedIn, response: ServerResponse): void {
    const stream: Stream = { hash, response, sent: undefined, sentAt: Date.now(), isFull: false };
    const channel = this.channels.get(migrationId) ?? { streams: new Set(), event: undefined };
    this.channels.set(migrationId, channel);
    channel.streams.add(stream);
    this.counted(hash, 1);
    response.on('drain', () => {
      stream.isFull = false;
      offer(stream, channel.event);
    });
    response.on('error', () => undefined); // `close` follows
    response.once('close', () => {
      channel.streams.delete(stream);
      if (channel.streams.size === 0 && this.channels.get(migrationId) === channel) this.channels.delete(migrationId);
      this.counted(hash, -1);
    });
    if (channel.event === undefined) void this.read(channel).catch(() => undefined);
    else offer(stream, channel.event);
    this.timer ??= setTimeout(() => void this.poll(), POLL_EVERY_MS);
  }

  /** Closes all streams. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    for (const { streams } of this.channels.values()) for (const { response } of streams) response.end();
  }

  private counted(hash: Buffer, change: 1 | -1): void {
    const key = keyOf(hash);
    const now = (this.perSession.get(key) ?? 0) + change;
    if (now === 0) this.perSession.delete(key);
    else this.perSession.set(key, now);
    this.count += change;
  }

  private async poll(): Promise<void> {
    try {
      this.polls += 1;
      if (this.polls % POLLS_PER_SESSION_CHECK === 0) await this.endOldSessions();
      await this.readAll();
    } catch (error) {
      this.log.warn({ err: error }, 'the views cannot be read; trying again');
    }
    const silentSince = Date.now() - COMMENT_AFTER_MS;
    for (const { streams } of this.channels.values())
      for (const stream of streams) if (!stream.isFull && stream.sentAt <= silentSince) write(stream, COMMENT);
    this.timer = this.isClosed || this.count === 0 ? undefined : setTimeout(() => void this.poll(), POLL_EVERY_MS);
  }

  private async readAll(): Promise<void> {
    const waiting = [...this.channels.values()];
    const worker = async (): Promise<void> => {
      for (let next = waiting.pop(); next; next = waiting.pop()) await this.read(next);
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, worker));
  }

  /** Reads a view with any session of the channel. The next poll uses another one if this session has ended. */
  private async read(channel: Channel): Promise<void> {
    const [stream] = channel.streams;
    if (stream === undefined) return;
    const found = await this.db.view(stream.hash);
    if (found) channel.event = eventOf(found);
    else rotate(channel.streams, stream);
    for (const each of channel.streams) offer(each, channel.event);
  }

  private async endOldSessions(): Promise<void> {
    const streams = [...this.channels.values()].flatMap((channel) => [...channel.streams]);
    if (streams.length === 0) return;
    const hashes = new Map(streams.map(({ hash }) => [keyOf(hash), hash]));
    const live = new Set((await this.db.liveSessions([...hashes.values()])).map(keyOf));
    for (const { hash, response } of streams) {
      if (live.has(keyOf(hash))) continue;
      response.end('event: ended\ndata: {}\n\n');
      // A browser that does not read would keep the stream open.
      response.socket?.destroySoon();
    }
  }
}

/** Sends the event unless the reader has it, or is still reading an earlier one. */
function offer(stream: Stream, event: string | undefined): void {
  if (event === undefined || stream.isFull || stream.sent === event) return;
  stream.sent = event;
  write(stream, event);
}

function write(stream: Stream, text: string): void {
  if (stream.response.writableEnded) return;
  stream.sentAt = Date.now();
  stream.isFull = !stream.response.write(text);
}

function eventOf({ view, writtenAt, isCurrent }: ViewRow): string {
  return `event: migration\ndata: ${JSON.stringify({ view, writtenAt, isCurrent })}\n\n`;
}

function rotate(streams: Set<Stream>, first: Stream): void {
  streams.delete(first);
  streams.add(first);
}

const keyOf = (hash: Buffer): string => hash.toString('base64');
