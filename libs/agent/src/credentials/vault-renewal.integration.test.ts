/**
 * The renewal of a token, with a server in the place of Vault and a time that passes at once.
 *
 * | answer to a renewal                  | effect                                                                        |
 * | ------------------------------------ | ----------------------------------------------------------------------------- |
 * | a lease                              | the next one at half of it, at the earliest after a second                     |
 * | a failure, then a lease              | repeated after a tenth of the lease, at most 30 s, and nothing is said         |
 * | failures until the lease is over     | one sentence in the log of the run, with the reason and without the token      |
 * | leases that become shorter           | followed to the end of the longest life of the token                           |
 * | none before the end of the phase     | no sentence, and no request after the revocation                               |
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { signInToVault } from './vault-session.ts';

const MINUTE = 60;
const DONE = 'done';
let server: Server;
let address: string;
let asked: string[];
/** Pauses before the renewals, in seconds. */
let pauses: number[];
let said: string[];
let nowMs: number;

beforeEach(async () => {
  [asked, pauses, said, nowMs] = [[], [], [], 0];
  server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

/** Answers of the server to one request after the other: a lease in seconds, or a status. */
type Answer = { readonly lease: unknown } | { readonly status: number; readonly text?: string };

const answerWith = (answers: readonly Answer[]): void => {
  server.on('request', (request, response) => {
    request.resume();
    const given = answers[asked.length] ?? { status: 204 };
    asked.push(`${request.url}`.replace('/v1/auth/', ''));
    if ('status' in given) return response.writeHead(given.status).end(given.text);
    const auth = { client_token: 'hvs.run', lease_duration: given.lease, renewable: true };
    return response.end(JSON.stringify({ auth }));
  });
};

/** Signs in. @param times pauses that pass before the time stands still */
const signIn = async (times: number) => {
  const { promise: still, resolve } = Promise.withResolvers<string>();
  const timing = {
    nowMs: () => nowMs,
    pause: async (delayMs: number, signal: AbortSignal) => {
      pauses.push(delayMs / 1000);
      if (pauses.length > times) {
        resolve(DONE);
        await once(signal, 'abort');
      }
      nowMs += delayMs;
    },
  };
  const session = await signInToVault(
    {
      address,
      namespace: '',
      caPem: '',
      path: 'jwt',
      role: 'run',
      jwt: 'a.b.c',
      timeLimitMs: 5000,
    },
    {
      proxies: {},
      say: (text) => {
        said.push(text);
        resolve(DONE);
      },
      timing,
    },
  );
  return { still, end: () => session.end() };
};

const RENEWAL = 'token/renew-self';

test('each renewal follows from the lease before it', async () => {
  answerWith([20, 10, 1, 0.5, 7 * 24 * 60].map((minutes) => ({ lease: minutes * MINUTE })));
  const { still, end } = await signIn(4);
  expect(await still).toBe(DONE);
  expect(pauses).toEqual([10, 5, 0.5, 0.25, 60].map((minutes) => minutes * MINUTE));
  await end();
  expect(asked).toEqual(['jwt/login', ...Array(4).fill(RENEWAL), 'token/revoke-self']);
  expect(said).toEqual([]);
});

test('a failed renewal is repeated soon, and nothing is said once one succeeds', async () => {
  answerWith([
    { lease: 20 * MINUTE },
    { status: 503 },
    { lease: MINUTE },
    { status: 503 },
    { status: 429 },
    { lease: MINUTE },
  ]);
  const { still, end } = await signIn(5);
  expect(await still).toBe(DONE);
  expect(pauses).toEqual([600, 30, 30, 6, 6, 30]);
  await end();
  expect(said).toEqual([]);
});

test('a lease that cannot be renewed ends with one sentence', async () => {
  const failure = { status: 503, text: 'sealed, hvs.run' };
  answerWith([{ lease: 20 }, ...Array<Answer>(50).fill(failure)]);
  const { still, end } = await signIn(50);
  expect(await still).toBe(DONE);
  // After ten seconds, and then every two of the other ten.
  expect(pauses).toEqual([10, 2, 2, 2, 2]);
  expect(said).toEqual([
    `The token of ${address} could not be renewed, and ends by its time: it answered 503: sealed, (sensitive value)`,
  ]);
  await expect(end()).rejects.toThrow('503');
});

test('shorter leases are followed to the end of the longest life', async () => {
  const refused = { status: 403, text: 'permission denied' };
  answerWith([...[8, 4, 2, 1].map((lease) => ({ lease })), refused]);
  const { still, end } = await signIn(50);
  expect(await still).toBe(DONE);
  expect(pauses).toEqual([4, 2, 1, 1]);
  expect(said).toEqual([expect.stringContaining('permission denied')]);
  await end();
});

test.for([0, -1, 'long', undefined])('an answer with the lease %s is a failure', async (lease) => {
  answerWith([{ lease: 20 }, ...Array<Answer>(50).fill({ lease })]);
  const { still, end } = await signIn(50);
  expect(await still).toBe(DONE);
  expect(said).toEqual([expect.stringContaining('without a lease')]);
  await end();
});

test('a renewal that is under way at the end of the phase is given up', async () => {
  const arrived = new Promise<void>((resolve) => {
    server.on('request', ({ url }, response) => {
      const auth = { client_token: 'hvs.run', lease_duration: 20, renewable: true };
      if (url?.endsWith('/login')) response.end(JSON.stringify({ auth }));
      else if (url?.endsWith('/revoke-self')) response.writeHead(204).end();
      else resolve();
    });
  });
  const { end } = await signIn(50);
  await arrived;
  await end();
  await turn();
  expect([pauses, said]).toEqual([[10], []]);
});
