/**
 * A read-only Web UI for clients: a reverse proxy in front of Temporal's Web UI, because Temporal's dev server cannot
 * switch off writing. It forwards only the requests that Temporal's own Web UI allows with
 * `TEMPORAL_DISABLE_WRITE_ACTIONS`: reads and queries. It also disables or hides the buttons of write actions.
 *
 * `GET /m/<migration>` redirects to the page of the migration's current run, because Temporal continues a long
 * migration in a new run, and the page of the old run no longer changes.
 */
import { Agent, createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { isLoopback } from '../../security/codec-server';
import { errorCode, reservePort } from '../ports';

const DEFAULT_PORT = 8_235;
const HOST = '127.0.0.1';
/** Maximum size of a request's URL and headers. It is large because pages send the texts for `/render` in the URL. */
const MAX_HEADER_BYTES = 1024 * 1024;

const MIGRATION_LINK = /^\/m\/([a-z0-9.-]{1,200})$/;
const SETTINGS = '/api/v1/settings';
/** The path that renders Markdown as HTML, which the pages show in frames. */
const RENDERED_TEXT = '/render';
/**
 * One segment each for namespace, workflow and query. Encoded slashes do not match, so a path cannot disguise another
 * call as a query.
 */
const QUERY = /^\/api\/v1\/namespaces\/[\w.-]+\/workflows\/(?:[\w.:-]|%3A)+\/query\/\w+$/;

/**
 * The settings that disable the buttons of write actions, and hide Temporal's system namespace. The proxy refuses the
 * calls of these buttons as well.
 */
const READ_ONLY_SETTINGS = {
  DisableWriteActions: true,
  WorkflowTerminateDisabled: true,
  WorkflowCancelDisabled: true,
  WorkflowSignalDisabled: true,
  WorkflowUpdateDisabled: true,
  WorkflowResetDisabled: true,
  WorkflowPauseDisabled: true,
  BatchActionsDisabled: true,
  StartWorkflowDisabled: true,
  ActivityCommandsDisabled: true,
  ShowTemporalSystemNamespace: false,
};

/** Hides the disabled buttons "Request Cancellation" and "More Actions". */
const HIDDEN_BUTTONS = '<style>div:has(> * > [aria-controls="workflow-actions"]){display:none}</style>';

export interface ReadOnlyUiOptions {
  /** Temporal's Web UI. */
  readonly uiUrl: string;
  /** The namespace of the migrations to which `/m/<migration>` redirects. */
  readonly namespace: string;
  /** The first port to try; 0 for any free port. Default: 8235. */
  readonly port?: number | undefined;
}

export interface ReadOnlyUi {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts the read-only Web UI. Only this machine can reach it. */
export async function startReadOnlyUi({
  uiUrl,
  namespace,
  port = DEFAULT_PORT,
}: ReadOnlyUiOptions): Promise<ReadOnlyUi> {
  const agent = new Agent({ keepAlive: true });
  const upstream = { uiUrl, namespace, agent };
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    answer(upstream, request, response).catch((error: unknown) => {
      if (response.headersSent || errorCode(error) === 'ERR_STREAM_PREMATURE_CLOSE') response.destroy();
      else sendText(response, 502, 'This page could not be read from Temporal. Reload it in a few seconds.');
    });
  });
  const reserved = await reservePort(port);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(reserved.port, HOST, resolve);
    });
  } finally {
    reserved.release();
  }
  return {
    url: `http://${HOST}:${reserved.port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        agent.destroy();
      }),
  };
}

interface Upstream {
  readonly uiUrl: string;
  readonly namespace: string;
  readonly agent: Agent;
}

async function answer(upstream: Upstream, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '', headers } = request;
  const [path = ''] = url.split('?');
  // Prevents DNS rebinding: a page whose host name resolves to 127.0.0.1 could otherwise read the answers.
  if (!isLoopback(hostnameOf(headers.host)))
    return sendText(
      response,
      403,
      'Open this page on the machine that serves it, with 127.0.0.1 or localhost in the address.',
    );
  if (!path.startsWith('/')) return sendText(response, 400, 'The request target must begin with a slash.');
  if (method !== 'GET' && method !== 'HEAD' && !(method === 'POST' && QUERY.test(path))) {
    response.setHeader('allow', 'GET, HEAD');
    return sendText(response, 405, 'This Web UI is read-only.');
  }
  const [, migrationId] = MIGRATION_LINK.exec(path) ?? [];
  if (migrationId !== undefined) return redirect(upstream, migrationId, response);

  const answered = await forward(upstream, request);
  const { statusCode = 502 } = answered;
  const answeredHeaders = withoutConnection(answered.headers);
  const change = changeOf(path, answeredHeaders);
  if (method !== 'GET' || statusCode !== 200 || change === undefined) {
    response.writeHead(statusCode, answeredHeaders);
    return pipeline(answered, response);
  }
  const body = change(await text(answered));
  response.writeHead(statusCode, { ...answeredHeaders, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** Returns a function that changes the body of an answer; undefined if the answer is forwarded unchanged. */
function changeOf(path: string, headers: IncomingMessage['headers']): ((body: string) => string) | undefined {
  if (path === SETTINGS) return (body) => JSON.stringify({ ...(JSON.parse(body) as object), ...READ_ONLY_SETTINGS });
  const isPage = headers['content-type']?.startsWith('text/html') && path !== RENDERED_TEXT;
  return isPage ? (body) => body.replace('</head>', `${HIDDEN_BUTTONS}</head>`) : undefined;
}

/** Sends the request to Temporal's Web UI. Rejects if there is no answer. */
function forward({ uiUrl, agent }: Upstream, request: IncomingMessage): Promise<IncomingMessage> {
  const { method, url, headers } = request;
  // Drops this header, because it would make Temporal's API use a method other than the request's.
  const { 'x-http-method-override': _, ...kept } = withoutConnection(headers);
  return new Promise((resolve, reject) => {
    const sent = sendRequest(
      uiUrl,
      { method, path: url, agent, headers: { ...kept, host: new URL(uiUrl).host, 'accept-encoding': 'identity' } },
      resolve,
    );
    sent.once('error', reject);
    pipeline(request, sent).catch(reject);
  });
}

/** Drops the headers that concern only one connection. */
function withoutConnection(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  const { connection: _, 'keep-alive': __, upgrade: ___, ...others } = headers;
  return others;
}

async function redirect({ uiUrl, namespace }: Upstream, migrationId: string, response: ServerResponse): Promise<void> {
  const workflow = `/namespaces/${encodeURIComponent(namespace)}/workflows/${migrationId}`;
  const answered = await fetch(`${uiUrl}/api/v1${workflow}`);
  const described = (await answered.json()) as { workflowExecutionInfo?: { execution?: { runId?: string } } };
  const runId = described.workflowExecutionInfo?.execution?.runId;
  if (answered.status === 404)
    return sendText(
      response,
      404,
      `Temporal has no migration ${migrationId}. Check the id in the address. Temporal also deletes a migration some time after its end: if you need its result, ask your contact for the handover report.`,
    );
  if (runId === undefined) throw new Error(`Temporal did not describe ${migrationId}: status ${answered.status}`);
  response.writeHead(302, { location: `${workflow}/${runId}/user-metadata`, 'cache-control': 'no-store' });
  response.end();
}

function hostnameOf(host = ''): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '';
}

function sendText(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
  response.end(`${body}\n`);
}
