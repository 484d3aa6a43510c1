import fastify from 'fastify';
import { Kysely, PostgresDialect } from 'kysely';
import { failureForLog, prepareSchema } from '../../company-data-service/database/database';
import type { Tables } from '../../company-data-service/database/tables';
import { HealthMonitor } from '../../observability/health-monitor';
import { sendError } from '../../portal/server/errors';
import { failureText } from '../../postgres/pool';
import { createLog } from '../../security/log';
import { until } from '../support/async';

const REASON = 'connect ECONNREFUSED ::1:5432';
/** The failure to connect to a host with two addresses. It has no message. */
const FAILURE = new AggregateError([new Error(REASON), new Error('connect ECONNREFUSED 127.0.0.1:5432')]);

test('the text of a failure is its message, or else that of the first address, or else its name', () => {
  expect(failureText(FAILURE)).toBe(REASON);
  expect(failureText(new AggregateError([new Error('a')], 'several'))).toBe('several');
  expect(failureText(new AggregateError([]))).toBe('AggregateError');
  expect(failureText('closed')).toBe('closed');
});

test('the service says and logs why it could not connect to a host with several addresses', async () => {
  const pool = () => Promise.reject(FAILURE);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  await expect(prepareSchema(db)).rejects.toThrow(`Could not update the schema of the Company Data Service: ${REASON}`);
  expect(failureForLog(FAILURE)).toMatchObject({ type: 'AggregateError', message: REASON });
});

test('the portal logs why it could not connect to a host with several addresses', async () => {
  const logged: unknown[] = [];
  const app = fastify({ loggerInstance: createLog({ to: { write: (line) => logged.push(JSON.parse(line)) } }) });
  app.setErrorHandler(sendError);
  app.get('/', () => Promise.reject(FAILURE));
  expect((await app.inject('/')).statusCode).toBe(500);
  expect(logged).toContainEqual(
    expect.objectContaining({ msg: 'a request failed', err: expect.objectContaining({ message: REASON }) as unknown }),
  );
  await app.close();
});

test('a health check says why it could not connect to a host with several addresses', async () => {
  const monitor = new HealthMonitor({ info: () => undefined, warn: () => undefined });
  monitor.add('database', () => Promise.reject(FAILURE));
  await until(() => monitor.states()['database']?.why !== 'not checked yet');
  monitor.stop();
  expect(monitor.states()['database']?.why).toBe(REASON);
});
