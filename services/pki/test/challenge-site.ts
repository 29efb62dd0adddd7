/** A store with an account, a web server that proves names or not, and validation workers on them. */

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ManualClock } from '@keelson/clock';
import { createLogger } from '@keelson/logging';
import { createRegistry } from '@keelson/metrics';
import { createBarrier, openBarrierFor, openSqliteStore } from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';
import { accountRecords } from '../src/acme/accounts/account-records.ts';
import type { Account } from '../src/acme/accounts/domain/account.ts';
import {
  type ChallengePlace,
  triggerChallenge,
} from '../src/acme/authorizations/challenge-operations.ts';
import { challengeQueueRecords, queueKey } from '../src/acme/authorizations/challenge-records.ts';
import { FirstAttempts } from '../src/acme/authorizations/first-attempts.ts';
import {
  type Authorization,
  changeAuthorization,
  type Order,
} from '../src/acme/orders/domain/order.ts';
import { orderKey, orderRecords } from '../src/acme/orders/order-records.ts';
import { validateHere } from '../src/acme/validation/validate-on-thread.ts';
import {
  type ValidationParts,
  ValidationWorker,
} from '../src/acme/validation/validation-worker.ts';
import { createPkiCounters } from '../src/metrics/counters.ts';
import { someSettings } from './acme-attempt.ts';

export const MOUNT = { uuid: '8f0b1c1e-0000-4000-8000-000000000001', local: false };
const ACCOUNT = 'account';
const THUMBPRINT = '9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI';

export const openChallengeSite = async () => {
  const folder = await temporaryDirectory();
  const clock = new ManualClock();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: join(folder.path, 'pki.sqlite'), barrier, clock });
  await openBarrierFor(store, barrier, Buffer.alloc(32, 7));
  const account: Account = {
    directory: 'acme/',
    key: { kty: 'EC', crv: 'P-256', x: '', y: '' },
    thumbprint: THUMBPRINT,
    contacts: [],
    termsAgreed: true,
    status: 'valid',
    createdAtMs: 0,
  };
  await store.transact((tx) => accountRecords(MOUNT).write(tx, ACCOUNT, account));
  const requests: string[] = [];
  let listener: RequestListener = (_, response) => response.writeHead(404).end();
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    listener(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  /** @param settingsOf of the mount; those of the site if absent */
  const startWorker = (
    settingsOf: ValidationParts['settingsOf'] = () =>
      Promise.resolve(someSettings({ ports: { http: port, tls: 1 } })),
  ) => {
    const abort = new AbortController();
    const worker = new ValidationWorker({
      counters: createPkiCounters(createRegistry('test'), { note: () => undefined }),
      store,
      clock,
      logger: createLogger({ name: 'test', level: 'silent' }),
      openValidation: validateHere,
      mounts: () => [MOUNT],
      settingsOf,
      accountUrl: () => Promise.resolve('http://localhost/account'),
    });
    const ended = worker.run(abort.signal);
    const firstAttempts = new FirstAttempts({ store, clock, attempts: worker });
    return {
      take: (...args: Parameters<typeof worker.take>) => worker.take(...args),
      /** The client of an order is ready. */
      begin: async (orderId: string): Promise<Authorization> =>
        firstAttempts.begin(placeOf(orderId), account, await authorizationOf(orderId)),
      stop: async () => {
        abort.abort();
        await ended;
      },
    };
  };

  const placeOf = (orderId: string): ChallengePlace => ({
    mount: MOUNT,
    accountId: ACCOUNT,
    orderId,
    authorizationIndex: 0,
    type: 'http-01',
  });

  /** An order for 127.0.0.1. */
  const order = async (orderId: string): Promise<void> => {
    const made: Order = {
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
    await store.transact((tx) => orderRecords(MOUNT).write(tx, orderKey(ACCOUNT, orderId), made));
  };

  /** An order whose http-01 challenge the client is ready for, in the queue. */
  const trigger = async (orderId: string) => {
    await order(orderId);
    const { claimed } = await triggerChallenge({ store, clock }, placeOf(orderId));
    if (claimed === undefined) throw new Error('not claimed');
    return claimed;
  };

  const authorizationOf = async (orderId: string): Promise<Authorization> => {
    const found = await orderRecords(MOUNT).find(store, orderKey(ACCOUNT, orderId));
    const [authorization] = found?.authorizations ?? [];
    if (authorization === undefined) throw new Error('no authorization');
    return authorization;
  };
  /** Sets the web server's answer at a path. */
  const proofFor = (url: string): string => `${url.slice(url.lastIndexOf('/') + 1)}.${THUMBPRINT}`;

  const challengeOf = async (orderId: string) => (await authorizationOf(orderId)).challenges[0];
  const entryOf = (orderId: string) =>
    challengeQueueRecords(MOUNT).find(store, queueKey(orderId, 0));

  return {
    store,
    clock,
    requests,
    startWorker,
    order,
    trigger,
    challengeOf,
    entryOf,
    answer: (answering: RequestListener) => {
      listener = answering;
    },
    proofFor,
    answerRight: () => {
      listener = ({ url = '' }, response) => response.end(proofFor(url));
    },
    /** The client deactivates the authorization. */
    giveUp: (orderId: string) =>
      store.transact(async (tx) => {
        const key = orderKey(ACCOUNT, orderId);
        const found = await orderRecords(MOUNT).find(tx, key);
        if (found === undefined) throw new Error('no order');
        const changed = changeAuthorization(found, 0, (one) => ({ ...one, status: 'deactivated' }));
        orderRecords(MOUNT).write(tx, key, changed);
      }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
};

/** Until it holds, however long that takes: the test's time limit is the only one. */
export const until = async (holds: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await holds())) await new Promise(setImmediate);
};
