import { randomUUID } from 'node:crypto';
import { type CompanyDataClient, DeferredUntil } from '../../company-data-client';
import { Secret } from '../../security/secret';
import { until } from '../support/async';
import { failing, json, neverAnswered } from './misbehaving-service';
import { COMPANY, CONNECTION, useMisbehavingService } from './use-misbehaving-service';

const FIELDS = new Secret({ accessToken: 'a' });

const { service, clientWith } = useMisbehavingService({ retryBudgetMs: 5_000, firstRetryWaitMs: 4 });

/** Occupies the client's only connection for authorizations until the returned function is called. */
async function occupy(client: CompanyDataClient): Promise<() => Promise<void>> {
  const controller = new AbortController();
  const call = client.putAuthorization('c1', 'k1', FIELDS, { signal: controller.signal });
  await Promise.race([call, until(() => service.arrived.length === 1)]);
  return async () => {
    controller.abort(new Error('released'));
    await expect(call).rejects.toThrow('released');
  };
}

describe('a cancelled call', () => {
  const reason = new Error('the batch run was paused');

  test('ends with the reason of its signal while the service does not respond', async () => {
    const controller = new AbortController();
    service.answer(() => controller.abort(reason));
    await expect(clientWith().getCompany('c1', { signal: controller.signal })).rejects.toBe(reason);
  });

  test('ends with the reason of its signal while it is waiting for a retry', async () => {
    const controller = new AbortController();
    service.answer(failing(503, 'Maintenance', { 'retry-after': '4' }));
    const onWait = () => controller.abort(reason);
    await expect(clientWith({ onWait }).getCompany('c1', { signal: controller.signal })).rejects.toBe(reason);
    expect(service.arrived).toHaveLength(1);
  });

  test('ends with the reason of its signal while it is waiting for a connection', async () => {
    const controller = new AbortController();
    service.answer(() => controller.abort(reason));
    const client = clientWith({ connections: 1 });
    const first = client.getCompany('c1', { signal: controller.signal });
    const second = client.getCompany('c2', { signal: controller.signal });
    await expect(first).rejects.toBe(reason);
    await expect(second).rejects.toBe(reason);
    expect(service.arrived).toHaveLength(1);
  });

  test('ends with the reason of its signal before it is sent', async () => {
    service.answer(json(200, COMPANY));
    await expect(clientWith().getCompany('c1', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(service.arrived).toHaveLength(0);
  });
});

test('the time limit of a call starts when it gets a connection', async () => {
  service.answer((response, arrived) => void setTimeout(() => json(200, COMPANY)(response, arrived), 600));
  const client = clientWith({ connections: 1, requestTimeoutMs: 1_500, retryBudgetMs: 60_000 });
  await Promise.all(['c1', 'c2', 'c3', 'c4'].map((id) => client.getCompany(id)));
  expect(service.arrived).toHaveLength(4);
});

test('an authorization that has waited too long for a connection is not sent', async () => {
  service.answer(neverAnswered);
  const client = clientWith({ connections: 1, retryBudgetMs: 100 });
  const release = await occupy(client);
  await expect(client.putAuthorization('c2', 'k2', FIELDS)).rejects.toMatchObject({ reason: 'refused' });
  await release();
  expect(service.arrived).toHaveLength(1);
});

describe('a call with sendBefore', () => {
  const soon = (inMs: number) => new Date(Date.now() + inMs);

  test('is not sent after that time', async () => {
    service.answer(json(200, CONNECTION));
    const put = clientWith().putAuthorization('c1', 'k1', FIELDS, { sendBefore: new Date() });
    await expect(put).rejects.toMatchObject({ reason: 'refused' });
    expect(service.arrived).toHaveLength(0);
  });

  test('is not sent after that time even if it creates something', async () => {
    service.answer(json(200, COMPANY));
    const options = { idempotencyKey: randomUUID(), sendBefore: new Date() };
    await expect(clientWith().createCompany({ name: 'Late' }, options)).rejects.toMatchObject({ reason: 'refused' });
    await expect(clientWith().createConnection('c1', 'qhyg', options)).rejects.toMatchObject({ reason: 'refused' });
    await expect(clientWith().startSync('c1', options)).rejects.toMatchObject({ reason: 'refused' });
    expect(service.arrived).toHaveLength(0);
  });

  test('does not wait for a retry beyond that time', async () => {
    service.answer(failing(429, 'Too many', { 'retry-after': '60' }), json(200, CONNECTION));
    const put = clientWith({ retryBudgetMs: 120_000 }).putAuthorization('c1', 'k1', FIELDS, {
      sendBefore: soon(10_000),
    });
    await expect(put).rejects.toThrow(DeferredUntil);
    expect(service.arrived).toHaveLength(1);
  });

  test('does not wait for a connection beyond that time', async () => {
    service.answer(neverAnswered);
    const client = clientWith({ connections: 1 });
    const release = await occupy(client);
    const put = client.putAuthorization('c2', 'k2', FIELDS, { sendBefore: soon(200) });
    await expect(put).rejects.toMatchObject({ reason: 'refused' });
    await release();
    expect(service.arrived).toHaveLength(1);
  });
});

describe('recordSendIntent', () => {
  test('is called before each attempt, after the wait for a retry', async () => {
    service.answer(failing(429, 'Too many', { 'retry-after': '0' }), json(200, CONNECTION));
    const arrivedBefore: number[] = [];
    const recordSendIntent = async () => void arrivedBefore.push(service.arrived.length);
    await clientWith().putAuthorization('c1', 'k1', FIELDS, { recordSendIntent });
    expect(arrivedBefore).toEqual([0, 1]);
  });

  test('prevents the call from being sent if it rejects', async () => {
    service.answer(json(200, CONNECTION));
    const recordSendIntent = () => Promise.reject(new Error('no longer ours'));
    const put = clientWith().putAuthorization('c1', 'k1', FIELDS, { recordSendIntent });
    await expect(put).rejects.toThrow('no longer ours');
    expect(service.arrived).toHaveLength(0);
  });
});
