/**
 * Creates V8's code cache of the bundled command: runs `ferry list` against a Temporal server that implements no method
 * and a database that does not exist, and saves the code that V8 has compiled by then. Fails if the command has not
 * called the server.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import { createRequire } from 'node:module';

const { cacheOf, runBundle } = createRequire(import.meta.url)('../bin/bundle.js');
const [node, program, bundle] = process.argv;

const UNIMPLEMENTED = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' };
let requests = 0;
const server = createServer().on('stream', (stream) => {
  requests += 1;
  stream.respond(UNIMPLEMENTED, { endStream: true });
});

server.listen(0, '127.0.0.1', () => {
  const nowhere = `${bundle}.home`; // does not exist, so it contains no configuration of Temporal
  Object.assign(process.env, {
    ...{ HOME: nowhere, APPDATA: nowhere, TOKENFERRY_HOME: nowhere },
    TEMPORAL_ADDRESS: `127.0.0.1:${server.address().port}`,
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    TOKENFERRY_PAYLOAD_KEY: Buffer.alloc(32).toString('base64'),
  });
  process.argv = [node, program, 'list'];
  const createCache = runBundle(bundle);
  process.once('exit', () => {
    const unfinished = `${cacheOf(bundle)}.${process.pid}`;
    writeFileSync(unfinished, createCache());
    renameSync(unfinished, cacheOf(bundle));
    process.exitCode = requests > 0 ? 0 : 1;
  });
  server.unref();
});
