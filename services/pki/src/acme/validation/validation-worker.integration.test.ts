/** The worker on a store, with web servers that answer, refuse, or never answer. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ManualClock } from '@keelson/clock';
import { createLogger } from '@keelson/logging';
import { createBarrier, openBarrierFor, openSqliteStore } from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { someSettings } from '../../../test/acme-attempt.ts';
import {
  accountRecords,
  challengeQueueRecords,
  orderKey,
  orderRecords,
  queueKey,
} from '../acme-records.ts';
import { CLAIM_MS, triggerChallenge } from '../authorizations/challenge-operations.ts';
import type { Order } from '../domain/order.ts';
import { createValidationWorker, RETRY_DELAYS_MS } from './validation-worker.ts';

const MOUNT = { uuid: '8f0b1c1e-0000-4000-8000-000000000001', local: false };
const ACCOUNT = 'account';
const THUMBPRINT = '9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI';

const open = async () => {
  const folder = await temporaryDirectory();
  const clock = new ManualClock();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: join(folder.path, 'pki.sqlite'), barrier, clock });
  await openBarrierFor(store, barrier, Buffer.alloc(32, 7));
  await store.transact((tx) =>
    accountRecords(MOUNT).write(tx, ACCOUNT, {
      directory: 'acme/',
      key: { kty: 'EC', crv: 'P-256', x: '', y: '' },
      thumbprint: THUMBPRINT,
      contacts: [],
      termsAgreed: true,
      status: 'valid',
      createdAtMs: 0,
    }),
  );
  const requests: string[] = [];
  let listener: RequestListener = (_, response) => response.writeHead(404).end();
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    listener(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const startWorker = () => {
    const abort = new AbortController();
    const worker = createValidationWorker({
      store,
      clock,
      logger: createLogger({ name: 'test', level: 'silent' }),
      mounts: () => [MOUNT],
      settingsOf: () => Promise.resolve(someSettings({ ports: { http: port, tls: 1 } })),
      accountUrl: () => Promise.resolve('http://localhost/account'),
    });
    const ended = worker.run(abort.signal);
    return {
      ...worker,
      stop: async () => {
        abort.abort();
        await ended;
      },
    };
  };

  /** An order for 127.0.0.1 whose http-01 challenge the client is ready for. */
  const trigger = async (orderId: string) => {
    const order: Order = {
      accountId: ACCOUNT,
      directory: 'acme/',
      identifiers: [{ type: 'ip', value: '127.0.0.1' }],
      createdAtMs: clock.nowMs(),
      expiresAtMs: clock.nowMs() + 86_400_000,
      authorizations: [
        {
          identifier: { type: 'ip', value: '127.0.0.1' },
          wildcard: false,
          status: 'pending',
          expiresAtMs: clock.nowMs() + 86_400_000,
          challenges: [{ type: 'http-01', token: `token-${orderId}`, status: 'pending' }],
        },
      ],
    };
    await store.transact((tx) => orderRecords(MOUNT).write(tx, orderKey(ACCOUNT, orderId), order));
    const { claimed } = await triggerChallenge(
      { store, clock },
      { mount: MOUNT, accountId: ACCOUNT, orderId, authorizationIndex: 0, type: 'http-01' },
    );
    if (claimed === undefined) throw new Error('not claimed');
    return claimed;
  };

  const challengeOf = async (orderId: string) =>
    (await orderRecords(MOUNT).find(store, orderKey(ACCOUNT, orderId)))?.authorizations[0]
      ?.challenges[0];
  const entryOf = (orderId: string) =>
    challengeQueueRecords(MOUNT).find(store, queueKey(orderId, 0));

  return {
    clock,
    requests,
    startWorker,
    trigger,
    challengeOf,
    entryOf,
    answer: (answering: RequestListener) => {
      listener = answering;
    },
    answerRight: () => {
      listener = ({ url = '' }, response) =>
        response.end(`${url.slice(url.lastIndexOf('/') + 1)}.${THUMBPRINT}`);
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
};

/** Until it holds, however long that takes: the test's time limit is the only one. */
const until = async (holds: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await holds())) await new Promise(setImmediate);
};

let site: Awaited<ReturnType<typeof open>>;
beforeEach(async () => {
  site = await open();
});
afterEach(() => site.close());

describe('the validation of challenges', () => {
  test('begins when the client is ready', async () => {
    site.answerRight();
    const worker = site.startWorker();
    worker.take(MOUNT, await site.trigger('o1'));
    await until(async () => (await site.challengeOf('o1'))?.status === 'valid');
    expect(await site.entryOf('o1')).toBeUndefined();
    expect(site.requests).toEqual(['/.well-known/acme-challenge/token-o1']);
    await worker.stop();
  });

  test('is tried again later and later, then fails with the last problem', async () => {
    const worker = site.startWorker();
    worker.take(MOUNT, await site.trigger('o1'));
    for (const [done, delayMs] of RETRY_DELAYS_MS.entries()) {
      await until(async () => (await site.entryOf('o1'))?.attempts === done + 1);
      expect(await site.challengeOf('o1')).toMatchObject({
        status: 'processing',
        error: { type: 'incorrectResponse', detail: expect.stringContaining('404') },
      });
      site.clock.advance(delayMs - 1);
      expect(site.requests).toHaveLength(done + 1);
      site.clock.advance(1);
    }
    await until(async () => (await site.challengeOf('o1'))?.status === 'invalid');
    expect(site.requests).toHaveLength(RETRY_DELAYS_MS.length + 1);
    expect(await site.entryOf('o1')).toBeUndefined();
    await worker.stop();
  });

  test('succeeds at a later attempt', async () => {
    const worker = site.startWorker();
    worker.take(MOUNT, await site.trigger('o1'));
    await until(async () => (await site.entryOf('o1'))?.attempts === 1);
    site.answerRight();
    site.clock.advance(RETRY_DELAYS_MS[0]);
    await until(async () => (await site.challengeOf('o1'))?.status === 'valid');
    expect((await site.challengeOf('o1'))?.error).toBeUndefined();
    await worker.stop();
  });

  test('is taken over from a replica that ended', async () => {
    site.answerRight();
    await site.trigger('o1');
    const worker = site.startWorker();
    site.clock.advance(CLAIM_MS);
    await until(async () => (await site.challengeOf('o1'))?.status === 'valid');
    expect(await site.entryOf('o1')).toBeUndefined();
    await worker.stop();
  });

  test('is done once by several replicas that find the same work', async () => {
    site.answerRight();
    const orders = Array.from({ length: 40 }, (_, number) => `o${number}`);
    for (const order of orders) await site.trigger(order);
    site.clock.advance(CLAIM_MS);
    const workers = [site.startWorker(), site.startWorker(), site.startWorker()];
    for (const order of orders)
      await until(async () => (await site.challengeOf(order))?.status === 'valid');
    expect(new Set(site.requests).size).toBe(orders.length);
    expect(site.requests).toHaveLength(orders.length);
    for (const worker of workers) await worker.stop();
  });

  test('of more than there are slots for is done one after the other', async () => {
    let most = 0;
    let open = 0;
    const answers: (() => void)[] = [];
    site.answer(({ url = '' }, response) => {
      open += 1;
      most = Math.max(most, open);
      answers.push(() => {
        open -= 1;
        response.end(`${url.slice(url.lastIndexOf('/') + 1)}.${THUMBPRINT}`);
      });
    });
    const orders = Array.from({ length: 30 }, (_, number) => `o${number}`);
    const worker = site.startWorker();
    for (const order of orders) worker.take(MOUNT, await site.trigger(order));
    for (const _ of orders) {
      await until(() => answers.length > 0);
      answers.shift()?.();
    }
    for (const order of orders)
      await until(async () => (await site.challengeOf(order))?.status === 'valid');
    // All of them ask the same host.
    expect(most).toBeLessThanOrEqual(4);
    await worker.stop();
  });

  test('is given back when the replica stops, without a failed attempt', async () => {
    const worker = site.startWorker();
    const asked = new Promise<void>((resolve) => {
      site.answer(() => resolve());
    });
    worker.take(MOUNT, await site.trigger('o1'));
    await asked;
    await worker.stop();
    expect(await site.entryOf('o1')).toMatchObject({ attempts: 0, claimedUntilMs: 0 });
    site.answerRight();
    const next = site.startWorker();
    await until(async () => (await site.challengeOf('o1'))?.status === 'valid');
    await next.stop();
  });
});
