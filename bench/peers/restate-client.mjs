/** Calls Restate's handler for each company, and waits for its result. */
import { createRequire } from 'node:module';
import { connect } from '@restatedev/restate-sdk-clients';
import { createMover } from './mover.mjs';

const built = createRequire(new URL('../../dist/bench/processes/', import.meta.url));
const { serveParent } = built('./child-process.js');

let client;

serveParent(
  {
    start: async ({ serverUrl }) => void (client = connect({ url: serverUrl }).serviceClient({ name: 'company' })),
    ...createMover((company) => client.move(company)),
  },
  async () => process.exit(),
);
