/** Attempts on a thread of their own: answered as on this one, and let go of when it ends. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '@keelson/logging';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anAttempt, KEY_AUTHORIZATION, someSettings } from '../../../test/acme-attempt.ts';
import { JobThread } from '../../threads/job-thread.ts';
import type { ChallengeOutcome } from './challenge-validation.ts';
import {
  VALIDATION_THREAD,
  type Validate,
  type ValidationJob,
  validateBeside,
} from './validation-threads.ts';

const asked: PromiseWithResolvers<void>[] = [];
const server = createServer(({ url = '' }, response) => {
  if (url.endsWith('/silent')) asked.shift()?.resolve();
  else response.end(url.endsWith('/wrong') ? 'something else' : KEY_AUTHORIZATION);
});
let settings = someSettings();
const on = (token: string) => anAttempt({ identifier: { type: 'ip', value: '127.0.0.1' }, token });

/** Resolves when the server is asked for a file that it does not answer with. */
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

describe('a thread that validates', () => {
  const causes: unknown[] = [];
  const start = async () => {
    const kind = { entry: VALIDATION_THREAD, name: 'tried' };
    const thread = new JobThread<ValidationJob, ChallengeOutcome>(kind, (cause) =>
      causes.push(cause),
    );
    await thread.up;
    const validate: Validate = (attempt, settings) => thread.do({ attempt, settings });
    return { validate, end: () => thread.end(new Error('over')) };
  };

  test('answers each attempt with what came of it', { timeout: 60_000 }, async () => {
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
    thread.end();
    expect(causes).toEqual([]);
  });

  test('lets go of what is under way when it is ended', { timeout: 60_000 }, async () => {
    const thread = await start();
    const isAsked = whenAsked();
    const attempt = thread.validate(on('silent'), settings);
    await isAsked;
    thread.end();
    await expect(attempt).rejects.toThrow('over');
    expect(causes).toEqual([]);
  });

  test('tells of a fault of its own, and goes on', { timeout: 60_000 }, async () => {
    const thread = await start();
    const faulty = { ...on('right'), type: 'none' as 'http-01' };
    await expect(thread.validate(faulty, settings)).rejects.toThrow('not a function');
    expect(await thread.validate(on('right'), settings)).toEqual({ kind: 'valid' });
    thread.end();
  });
});

test('stopping lets go of an attempt, on whichever thread it is', { timeout: 60_000 }, async () => {
  const stopping = new AbortController();
  const logger = createLogger({ name: 'test', level: 'silent' });
  const validate = validateBeside(logger)(stopping.signal);
  // The first is made here, and starts the thread.
  expect(await validate(on('right'), settings)).toEqual({ kind: 'valid' });
  const isAsked = whenAsked();
  const attempt = validate(on('silent'), settings);
  await isAsked;
  stopping.abort(new Error('over'));
  await expect(attempt).rejects.toThrow('over');
});
