/** A greedy tenant and a polite one at the same gateway: turns, refusals, and the end of what nobody waits for. */
import { createEdgeService, type EdgeRequest, edgeResponse } from '@keelson/edge';
import { createErrorRenderer } from '@keelson/jsonapi';
import { afterEach, expect, test } from 'vitest';
import {
  API_TOKEN,
  OTHER_API_TOKEN,
  SECOND_API_TOKEN,
  startGateway,
} from '../../test/stub-services.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Longer than a turn of the event loop may last. */
const BUSY_MS = 5;

/** A service whose requests are answered when the test says so. */
const openHeldService = () => {
  const arrived: { readonly name: string; readonly answer: () => void }[] = [];
  let onArrival = (): void => undefined;
  const operation = () => ({ summary: 'held' });
  const service = createEdgeService({
    service: 'workspace',
    version: '1',
    pathPrefix: '/api/v2',
    renderError: createErrorRenderer(() => undefined),
    routes: [
      {
        method: 'GET',
        path: '/held/:name',
        operation,
        handle: async ({ params: { name = '' } }) => {
          await new Promise<void>((resolve) => {
            arrived.push({ name, answer: resolve });
            onArrival();
          });
          return edgeResponse(200, {}, Buffer.from(name));
        },
      },
      {
        method: 'GET',
        path: '/busy/:name',
        operation,
        handle: ({ params: { name = '' } }) => {
          const end = performance.now() + BUSY_MS;
          arrived.push({ name, answer: () => undefined });
          onArrival();
          while (performance.now() < end);
          return Promise.resolve(edgeResponse(200, {}, Buffer.from(name)));
        },
      },
      {
        method: 'GET',
        path: '/pieces/:name',
        operation,
        handle: ({ params: { name = '' } }) =>
          Promise.resolve(
            edgeResponse(
              200,
              {},
              (async function* () {
                yield Buffer.from('begun ');
                await new Promise<void>((resolve) => {
                  arrived.push({ name, answer: resolve });
                  onArrival();
                });
                yield Buffer.from('ended');
              })(),
            ),
          ),
      },
      {
        method: 'GET',
        path: '/downloads/:name',
        operation,
        handle: ({ params: { name = '' } }) => {
          const note = (part: string) => {
            arrived.push({ name: `${name} ${part}`, answer: () => undefined });
            onArrival();
            return Buffer.from(part);
          };
          note('begins');
          return Promise.resolve(
            edgeResponse(
              200,
              {},
              (async function* () {
                for (const part of ['1', '2']) yield note(part);
              })(),
            ),
          );
        },
      },
    ],
  });
  const tenants: (string | undefined)[] = [];
  return {
    service: {
      ...service,
      handle: (request: EdgeRequest) => {
        tenants.push(request.tenant);
        return service.handle(request);
      },
    },
    /** The owners of the shares that the requests use, in the order of their arrival. */
    tenants,
    names: () => arrived.map(({ name }) => name),
    answer: (name: string) => arrived.find((one) => one.name === name)?.answer(),
    /** Resolves when so many requests have arrived since the start. */
    untilArrived: (count: number) =>
      new Promise<void>((resolve) => {
        onArrival = () => {
          if (arrived.length >= count) resolve();
        };
        onArrival();
      }),
  };
};

const start = async (environment: Record<string, string>) => {
  const held = openHeldService();
  const gateway = await startGateway(environment, undefined, { workspace: held.service });
  closing.push(() => gateway.stop());
  const ask = (path: string, token = API_TOKEN, signal?: AbortSignal) =>
    fetch(`${gateway.http}/api/v2${path}`, {
      headers: { authorization: `Bearer ${token}` },
      ...(signal && { signal }),
    });
  const metrics = async () => (await fetch(`${gateway.http}/metrics`)).text();
  const waiting = (count: number) =>
    expect
      .poll(async () => /^keelson_http_requests_waiting (\d+)$/m.exec(await metrics())?.[1])
      .toBe(String(count));
  return { ...held, ask, metrics, waiting };
};

test('a tenant with many requests has its share, and that of others is free', async () => {
  const { ask, names, answer, untilArrived, waiting } = await start({
    KEELSON_TENANT_REQUESTS_AT_ONCE: '2',
  });
  const greedy = ['a1', 'a2'].map((name) => ask(`/held/${name}`));
  await untilArrived(2);
  // Another token of the same user.
  greedy.push(ask('/held/a3', SECOND_API_TOKEN));
  await waiting(1);
  const polite = ask('/held/b1', OTHER_API_TOKEN);
  await untilArrived(3);
  expect(names().slice(2)).toEqual(['b1']);
  answer('b1');
  expect((await polite).status).toBe(200);
  expect(names()).toHaveLength(3);
  answer('a1');
  await untilArrived(4);
  for (const name of ['a2', 'a3']) answer(name);
  expect((await Promise.all(greedy)).map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('a service, which may have several gateways, learns whose share a request uses', async () => {
  const { ask, tenants } = await start({});
  const tokens = [API_TOKEN, SECOND_API_TOKEN, OTHER_API_TOKEN];
  for (const token of tokens) await ask('/busy/a', token);
  expect(tenants).toEqual(['user user-1', 'user user-1', 'user user-2']);
});

test('when all places are taken, tenants take turns', async () => {
  const { ask, names, answer, untilArrived, waiting } = await start({
    KEELSON_REQUESTS_AT_ONCE: '1',
  });
  const all = [ask('/held/a1')];
  await untilArrived(1);
  for (const name of ['a2', 'a3', 'a4']) {
    all.push(ask(`/held/${name}`));
    await waiting(all.length - 1);
  }
  for (const name of ['b1', 'b2']) {
    all.push(ask(`/held/${name}`, OTHER_API_TOKEN));
    await waiting(all.length - 1);
  }
  for (let served = 1; served <= all.length; served += 1) {
    await untilArrived(served);
    answer(names()[served - 1] ?? '');
  }
  await Promise.all(all);
  expect(names()).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4']);
});

test('what has been sent meanwhile is read and begins before all that wait', async () => {
  const { ask, names, answer, untilArrived, waiting } = await start({
    KEELSON_REQUESTS_AT_ONCE: '1',
  });
  const all = [ask('/held/a0')];
  await untilArrived(1);
  const count = 40;
  for (let turn = 1; turn <= count; turn += 1) all.push(ask(`/busy/a${turn}`));
  await waiting(count);
  const begun = untilArrived(2);
  answer('a0');
  await begun;
  all.push(ask('/busy/b1', OTHER_API_TOKEN));
  await Promise.all(all);
  expect(names()).toHaveLength(count + 2);
  expect(names().indexOf('b1')).toBeLessThan(count);
});

test('one request too many that waits is answered with 429, and one whose client has gone no longer waits', async () => {
  const { ask, names, answer, untilArrived, waiting, metrics } = await start({
    KEELSON_TENANT_REQUESTS_AT_ONCE: '1',
    KEELSON_TENANT_REQUESTS_WAITING: '1',
  });
  const first = ask('/held/a1');
  await untilArrived(1);
  const leaving = new AbortController();
  const left = ask('/held/a2', API_TOKEN, leaving.signal).catch(() => 'left');
  await waiting(1);
  const refused = await ask('/held/a3');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await refused.text()).toContain('more than 1 requests of the same organization');
  expect(await metrics()).toMatch(/^keelson_http_share_refusals_total\{kind="requests"\} 1$/m);

  leaving.abort();
  expect(await left).toBe('left');
  await waiting(0);
  const next = ask('/held/a4');
  await waiting(1);
  answer('a1');
  await untilArrived(2);
  answer('a4');
  expect([(await first).status, (await next).status]).toEqual([200, 200]);
  expect(names()).toEqual(['a1', 'a4']);
});

test('an answer in pieces keeps its place until its end, or until its client has gone', async () => {
  const { ask, answer, untilArrived, waiting } = await start({
    KEELSON_TENANT_REQUESTS_AT_ONCE: '1',
  });
  const begun = await ask('/pieces/a1');
  await untilArrived(1);
  const second = ask('/pieces/a2');
  await waiting(1);
  answer('a1');
  expect(await begun.text()).toBe('begun ended');
  await untilArrived(2);
  const { body } = await second;
  const third = ask('/held/a3');
  await waiting(1);
  await body?.cancel();
  answer('a2');
  await untilArrived(3);
  answer('a3');
  expect((await third).status).toBe(200);
});

test('transfers begin in turns, and wait for a turn before each of their pieces', async () => {
  const { ask, names, answer, untilArrived, waiting } = await start({
    KEELSON_REQUESTS_AT_ONCE: '1',
  });
  const all = [ask('/held/b0', OTHER_API_TOKEN)];
  await untilArrived(1);
  for (const path of ['/downloads/a1', '/downloads/a2']) {
    all.push(ask(path));
    await waiting(all.length - 1);
  }
  for (const path of ['/held/b1', '/held/b2']) {
    all.push(ask(path, OTHER_API_TOKEN));
    await waiting(all.length - 1);
  }
  answer('b0');
  await untilArrived(3);
  // The first piece of one and the beginning of the other.
  await waiting(3);
  expect(names()).toEqual(['b0', 'a1 begins', 'b1']);
  answer('b1');
  await untilArrived(5);
  await waiting(2);
  expect(names().slice(3)).toEqual(['a2 begins', 'b2']);
  answer('b2');
  const texts = (await Promise.all(all)).map((answered) => answered.text());
  expect(await Promise.all(texts)).toEqual(['b0', '12', '12', 'b1', 'b2']);
});

test('a transfer whose client has gone before its turn does not begin', async () => {
  const { ask, names, answer, untilArrived, waiting } = await start({
    KEELSON_REQUESTS_AT_ONCE: '1',
  });
  const first = ask('/held/b1', OTHER_API_TOKEN);
  await untilArrived(1);
  const leaving = new AbortController();
  const left = ask('/downloads/a1', API_TOKEN, leaving.signal).catch(() => 'left');
  await waiting(1);
  leaving.abort();
  expect(await left).toBe('left');
  await waiting(0);
  answer('b1');
  expect((await first).status).toBe(200);
  expect(names()).toEqual(['b1']);
});
