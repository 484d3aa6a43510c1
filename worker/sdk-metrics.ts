/** Reads the metrics that Temporal's SDK serves on an address of this machine. The worker adds them to its own. */
import { createServer, type AddressInfo } from 'node:net';
import { request } from 'undici';

const LOOPBACK = '127.0.0.1';
const TIMEOUT_MS = 2_000;

/** Returns a free address of this machine for the SDK's metrics. */
export async function freeLoopbackAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `${LOOPBACK}:${port}`;
}

/** Reads the SDK's metrics as text. */
export async function readSdkMetrics(address: string): Promise<string> {
  const { body } = await request(`http://${address}/metrics`, {
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  return body.text();
}

/**
 * Adds up the samples of a counter.
 *
 * @param labels text that the labels of a sample must contain, for example `operation="PollWorkflowTaskQueue"`
 */
export function sumOf(text: string, name: string, labels = ''): number {
  let sum = 0;
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${name}{`) || !line.includes(labels)) continue;
    sum += Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return sum;
}
