/**
 * Sends the views of migrations to the browsers that watch them, as server-sent events.
 *
 * The views of all watched migrations are read once a second, with one statement for each migration, and converted to
 * text once, however many browsers watch the migration. One timer serves all streams.
 *
 * A browser gets the view when it connects, whenever the content has changed, and when the view becomes old or current
 * again. It does not get the view when a worker has written the same content again. After a lost connection, the
 * browser gets the view only if it does not have the latest version (`Last-Event-ID`). A browser that reads more slowly
 * than the view changes gets only the latest view, so at most one view waits for each browser. A browser that reads
 * nothing loses its stream. Sessions that have ended lose their streams within 10 seconds.
 *
 * Workers write only views that are being read. The first read of an unwatched view therefore finds an old view, and
 * workers write a newer view within seconds. Browsers get the old view only if no worker has written a newer view in
 * time.
 *
 * If a view could not be read for 10 seconds, its browsers are told so. They would not notice it otherwise, because
 * their connection to the portal still works. They are also told when it can be read again.
 */
import { createHash, randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import type { ServerResponse } from 'node:http';
import type { SignedIn } from './api';
import { WAIT_FOR_NEWER_MS, type ChangedView, type PortalDatabase } from './database';
import { busy, tooMany } from './errors';
import type { PortalLimits } from './limits';

const POLL_EVERY_MS = 1_000;
/** The sessions are checked once in this number of polls. */
const POLLS_PER_SESSION_CHECK = 8;
/** How many migrations are read at the same time. */
const READS_AT_ONCE = 4;
/**
 * After this time without a successful read, browsers are told that the view cannot be read. The view that is read next
 * can then be old, because workers stop writing a view 15 seconds after it was last read.
 */
const INTERRUPTED_AFTER_MS = 10_000;
/** Tells browsers that the view can be read again. */
const READ_AGAIN = readingEvent(null);
const COMMENT = Buffer.from(':\n\n');
/**
 * After a restart of the portal, each browser reconnects after a random time of 2 to 6 seconds, so that the browsers do
 * not all reconnect at once.
 */
const [CONNECT_AGAIN_AFTER_MS, SPREAD_MS] = [2_000, 4_000];

interface Stream {
  readonly hash: Buffer;
  readonly response: ServerResponse;
  /** The id of the last event that was sent to the browser; undefined if there is none. */
  sent: string | undefined;
  sentAt: number;
  /** Since when the buffer of the socket has been full, in milliseconds since 1970; null if it is not full. */
  fullSince: number | null;
}

/** An event, which all streams of a channel share. */
interface ViewEvent {
  readonly id: string;
  readonly bytes: Buffer;
}

interface Channel {
  readonly migrationId: string;
  readonly streams: Set<Stream>;
  /** The version that the database returned last. */
  version: string | null;
  /** The view as JSON. */
  view: string;
  /** Since when the view has been read without an interruption, in milliseconds since 1970. */
  readSince: number;
  /** When the view was read last, in milliseconds since 1970; 0 if it never was. */
  readAt: number;
  /** When the channel was opened, in milliseconds since 1970. */
  readonly openedAt: number;
  /** The event that tells browsers that the view cannot be read; undefined while it can. */
  unread: Buffer | undefined;
  event: ViewEvent | undefined;
  isReading: boolean;
}

export class LiveViews {
  private readonly channels = new Map<string, Channel>();
  private readonly perSession = new Map<string, number>();
  private count = 0;
  private polls = 0;
  private timer: NodeJS.Timeout | undefined;
  /**
   * Runs independently of the reads, because a database that stops during a read answers nothing, not even an error.
   */
  private watch: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly db: PortalDatabase,
    private readonly limits: Pick<PortalLimits, 'streams' | 'streamsPerSession' | 'silenceMs' | 'stalledMs'>,
    private readonly log: Pick<Logger, 'warn'>,
  ) {}

  /** @throws {PortalError} if the session or the portal has too many streams, or the portal is closing */
  assertOneMore(hash: Buffer): void {
    if (this.isClosed || this.count >= this.limits.streams) throw busy(10);
    if ((this.perSession.get(keyOf(hash)) ?? 0) >= this.limits.streamsPerSession)
      throw tooMany('You have opened the portal in too many tabs or programs. Close some of them.', 60);
  }

  /**
   * Sends events until the browser or the portal closes the response. The caller has already written the headers.
   *
   * @param lastEventId the id of the last event that the browser has received; undefined if there is none
   */
  add({ hash, migrationId }: SignedIn, response: ServerResponse, lastEventId: string | undefined): void {
    const stream: Stream = { hash, response, sent: lastEventId, sentAt: Date.now(), fullSince: null };
    const known = this.channels.get(migrationId);
    const channel = known ?? newChannel(migrationId);
    this.channels.set(migrationId, channel);
    channel.streams.add(stream);
    this.adjustCount(hash, 1);
    response.on('drain', () => {
      stream.fullSince = null;
      offer(stream, channel.event);
    });
    response.on('error', () => undefined); // The event `close` follows.
    response.once('close', () => {
      channel.streams.delete(stream);
      if (channel.streams.size === 0 && this.channels.get(migrationId) === channel) this.channels.delete(migrationId);
      this.adjustCount(hash, -1);
    });
    write(stream, Buffer.from(`retry: ${CONNECT_AGAIN_AFTER_MS + randomInt(SPREAD_MS)}\n\n`));
    if (known === undefined) void this.read(channel).catch(() => undefined);
    else offer(stream, channel.event);
    if (channel.unread !== undefined) write(stream, channel.unread);
    this.timer ??= setTimeout(() => void this.poll(), POLL_EVERY_MS);
    this.watch ??= setInterval(() => this.checkStreams(Date.now()), POLL_EVERY_MS);
  }

  /** Closes all streams. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    clearInterval(this.watch);
    for (const { streams } of this.channels.values()) for (const { response } of streams) response.end();
  }

  private adjustCount(hash: Buffer, change: 1 | -1): void {
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
    this.timer = this.isClosed || this.count === 0 ? undefined : setTimeout(() => void this.poll(), POLL_EVERY_MS);
  }

  private checkStreams(now: number): void {
    for (const channel of this.channels.values()) {
      const readAt = Math.max(channel.readAt, channel.openedAt);
      if (channel.unread === undefined && now - readAt >= INTERRUPTED_AFTER_MS) {
        channel.unread = readingEvent(readAt);
        for (const stream of channel.streams) write(stream, channel.unread);
      }
      for (const stream of channel.streams) this.keepOpen(stream, now);
    }
    if (this.count > 0) return;
    clearInterval(this.watch);
    this.watch = undefined;
  }

  private keepOpen(stream: Stream, now: number): void {
    const { fullSince, sentAt, response } = stream;
    if (fullSince === null && now - sentAt >= this.limits.silenceMs) write(stream, COMMENT);
    if (fullSince !== null && now - fullSince >= this.limits.stalledMs) response.destroy();
  }

  private async readAll(): Promise<void> {
    const waiting = [...this.channels.values()];
    const worker = async (): Promise<void> => {
      for (let next = waiting.pop(); next; next = waiting.pop()) await this.read(next);
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, worker));
  }

  /**
   * Reads a view once for all streams of the channel, with the session of one of them. If that session has ended, the
   * next poll uses another session.
   */
  private async read(channel: Channel): Promise<void> {
    const [stream] = channel.streams;
    if (stream === undefined || channel.isReading) return;
    channel.isReading = true;
    let isUpToDate = false;
    try {
      const found = await this.db.changedView(stream.hash, channel.version);
      if (found) isUpToDate = update(channel, found, Date.now());
      else rotate(channel.streams, stream);
    } finally {
      channel.isReading = false;
    }
    for (const each of channel.streams) offer(each, channel.event);
    if (channel.unread === undefined || !isUpToDate) return;
    channel.unread = undefined;
    for (const each of channel.streams) write(each, READ_AGAIN);
  }

  private async endOldSessions(): Promise<void> {
    const streams = [...this.channels.values()].flatMap((channel) => [...channel.streams]);
    if (streams.length === 0) return;
    const hashes = new Map(streams.map(({ hash }) => [keyOf(hash), hash]));
    const live = new Set((await this.db.liveSessions([...hashes.values()])).map(keyOf));
    for (const { hash, response } of streams) {
      if (live.has(keyOf(hash))) continue;
      response.end('event: ended\ndata: {}\n\n');
      // Close the socket as well, because a browser that does not read would keep the stream open.
      response.socket?.destroySoon();
    }
  }
}

/**
 * Creates the event that says since when the view has not been read.
 *
 * @param readAt when the view was read last, in milliseconds since 1970; null if it can be read
 */
function readingEvent(readAt: number | null): Buffer {
  const since = readAt === null ? null : new Date(readAt).toISOString();
  return Buffer.from(`event: reading\ndata: ${JSON.stringify({ unreadSince: since })}\n\n`);
}

/** Sends the event unless the browser has it, or is still receiving an earlier event. */
function offer(stream: Stream, event: ViewEvent | undefined): void {
  if (event === undefined || stream.fullSince !== null || stream.sent === event.id) return;
  stream.sent = event.id;
  write(stream, event.bytes);
}

function write(stream: Stream, bytes: Buffer): void {
  if (stream.response.writableEnded) return;
  stream.sentAt = Date.now();
  if (!stream.response.write(bytes)) stream.fullSince ??= stream.sentAt;
}

const newChannel = (migrationId: string): Channel => ({
  ...{ migrationId, streams: new Set<Stream>(), event: undefined },
  ...{ version: null, view: '', readSince: 0, readAt: 0, isReading: false },
  ...{ openedAt: Date.now(), unread: undefined },
});

/**
 * Stores in the channel the view that was read. Returns false if the event is withheld, because workers might soon
 * write a newer view.
 */
function update(channel: Channel, { view, version, writtenAt, isCurrent }: ChangedView, now: number): boolean {
  if (now - channel.readAt >= INTERRUPTED_AFTER_MS) channel.readSince = now;
  channel.readAt = now;
  if (view !== null) channel.view = JSON.stringify(view);
  channel.version = version;
  // Workers have not had the time to write a newer view yet.
  if (!isCurrent && now - channel.readSince < WAIT_FOR_NEWER_MS) return false;
  // The id contains the migration, because the last event of the browser can be from another migration if the person
  // has signed in to this migration since.
  const migration = createHash('sha256').update(channel.migrationId).digest('hex').slice(0, 12);
  const id = `${migration}-${version}-${isCurrent ? 'current' : 'old'}`;
  if (channel.event?.id === id) return true;
  const data = `{"view":${channel.view},"writtenAt":"${writtenAt}","isCurrent":${isCurrent}}`;
  channel.event = { id, bytes: Buffer.from(`id: ${id}\nevent: migration\ndata: ${data}\n\n`) };
  return true;
}

function rotate(streams: Set<Stream>, first: Stream): void {
  streams.delete(first);
  streams.add(first);
}

const keyOf = (hash: Buffer): string => hash.toString('base64');
