/**
 * Validation attempts on a worker thread: the same results as on the main thread, and aborted when the thread
 * ends.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '@keelson/logging';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anAttempt, KEY_AUTHORIZATION, someSettings } from '../../../test/acme-attempt.ts';
import { validateChallenge } from './challenge-validation.ts';
import { openValidationPool, type Validate, validateOnThread } from './validate-on-thread.ts';

const asked: PromiseWithResolvers<void>[] = [];
const server = createServer(({ url = '' }, response) => {
  if (url.endsWith('/silent')) asked.shift()?.resolve();
  else response.end(url.endsWith('/wrong') ? 'something else' : KEY_AUTHORIZATION);
});
let settings = someSettings();
const on = (token: string) => anAttempt({ identifier: { type: 'ip', value: '127.0.0.1' }, token });

/** Resolves when the server receives a request that it never answers. */
const whenAsked = (): Promise<void> => {
  const next = Promise.withResolvers<void>();
  asked.push(next);
  return next.promise;
};

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  settings = someSettings({ ports: { http: (server.address() as AddressInfo).port, tls: 1 } });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('a worker thread that validates', () => {
  const start = async () => {
    const pool = openValidationPool(
      createLogger({ name: 'test', level: 'silent' }),
      validateChallenge,
    );
    await pool.whenStarted();
    const validate: Validate = (attempt, settings) => pool.run({ attempt, settings });
    return { validate, end: () => pool.end(new Error('over')) };
  };

  test('answers each attempt with its result', { timeout: 60_000 }, async () => {
    const thread = await start();
    const tokens = Array.from({ length: 100 }, (_, i) => (i % 3 === 0 ? 'wrong' : `right-${i}`));
    const outcomes = await Promise.all(tokens.map((token) => thread.validate(on(token), settings)));
    expect(outcomes.map(({ kind }) => kind)).toEqual(
      tokens.map((token) => (token === 'wrong' ? 'retry' : 'valid')),
    );
    const addressRanges = { permitted: [], excluded: ['127.0.0.0/8'] };
    expect(await thread.validate(on('right'), { ...settings, addressRanges })).toMatchObject({
      kind: 'invalid',
      problem: { type: 'rejectedIdentifier' },
    });
    await thread.end();
  });

  test('aborts running attempts when it is ended', { timeout: 60_000 }, async () => {
    const thread = await start();
    const isAsked = whenAsked();
    const attempt = thread.validate(on('silent'), settings);
    await isAsked;
    await Promise.all([expect(attempt).rejects.toThrow('over'), thread.end()]);
  });

  test('reports its own fault, and continues', { timeout: 60_000 }, async () => {
    const thread = await start();
    const faulty = { ...on('right'), type: 'none' as 'http-01' };
    await expect(thread.validate(faulty, settings)).rejects.toThrow('not a function');
    expect(await thread.validate(on('right'), settings)).toEqual({ kind: 'valid' });
    await thread.end();
  });
});

test('stopping aborts an attempt on any thread', { timeout: 60_000 }, async () => {
  const stopping = new AbortController();
  const logger = createLogger({ name: 'test', level: 'silent' });
  const validate = validateOnThread(logger)(stopping.signal);
  // The first attempt is made on the main thread, and starts the worker.
  expect(await validate(on('right'), settings)).toEqual({ kind: 'valid' });
  const isAsked = whenAsked();
  const attempt = validate(on('silent'), settings);
  await isAsked;
  stopping.abort(new Error('over'));
  await expect(attempt).rejects.toThrow('over');
});
