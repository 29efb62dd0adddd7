/** The worker on a store, with web servers that answer, refuse, or never answer. */

import { KeelsonError } from '@keelson/errors';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MOUNT, openChallengeSite, until } from '../../../test/challenge-site.ts';
import { CLAIM_MS } from '../authorizations/challenge-operations.ts';
import {
  RETRY_DELAYS_MS,
  WRONG_ANSWER_DELAY_MS,
} from '../authorizations/domain/attempt-schedule.ts';

let site: Awaited<ReturnType<typeof openChallengeSite>>;
beforeEach(async () => {
  site = await openChallengeSite();
});
afterEach(() => site.close());

describe('the validation of challenges', () => {
  test('starts when the client is ready', async () => {
    site.answerRight();
    const worker = site.startWorker();
    worker.take(MOUNT, await site.trigger('o1'));
    await until(async () => (await site.challengeOf('o1'))?.status === 'valid');
    expect(await site.entryOf('o1')).toBeUndefined();
    expect(site.requests).toEqual(['/.well-known/acme-challenge/token-o1']);
    await worker.stop();
  });

  test('is retried with increasing delays, then fails with the last problem', async () => {
    site.answer((request) => request.socket.destroy());
    const worker = site.startWorker();
    worker.take(MOUNT, await site.trigger('o1'));
    for (const [done, delayMs] of RETRY_DELAYS_MS.entries()) {
      await until(async () => (await site.entryOf('o1'))?.attempts === done + 1);
      expect(await site.challengeOf('o1')).toMatchObject({
        status: 'processing',
        error: { type: 'connection', detail: expect.stringContaining('ECONNRESET') },
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

  test('is retried once after a wrong answer', async () => {
    const worker = site.startWorker();
    worker.take(MOUNT, await site.trigger('o1'));
    await until(async () => (await site.entryOf('o1'))?.attempts === 1);
    expect(await site.challengeOf('o1')).toMatchObject({
      status: 'processing',
      error: { type: 'incorrectResponse', detail: expect.stringContaining('404') },
    });
    site.clock.advance(WRONG_ANSWER_DELAY_MS);
    await until(async () => (await site.challengeOf('o1'))?.status === 'invalid');
    expect(site.requests).toHaveLength(2);
    expect(await site.entryOf('o1')).toBeUndefined();
    await worker.stop();
  });

  test('ends thirty seconds after its first attempt, however long the server takes', async () => {
    // Simulates attempts that take the full 20 s.
    site.answer((request) => {
      site.clock.advance(20_000);
      request.socket.destroy();
    });
    const worker = site.startWorker();
    worker.take(MOUNT, await site.trigger('o1'));
    await until(async () => (await site.entryOf('o1'))?.attempts === 1);
    site.clock.advance(RETRY_DELAYS_MS[0]);
    await until(async () => (await site.challengeOf('o1'))?.status === 'invalid');
    expect(site.requests).toHaveLength(2);
    await worker.stop();
  });

  test('succeeds at a later attempt', async () => {
    const worker = site.startWorker();
    worker.take(MOUNT, await site.trigger('o1'));
    await until(async () => (await site.entryOf('o1'))?.attempts === 1);
    site.answerRight();
    site.clock.advance(WRONG_ANSWER_DELAY_MS);
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

  test('is done once when several replicas find the same work', async () => {
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

  test('is done in turn when there are fewer slots than challenges', async () => {
    let most = 0;
    let open = 0;
    const answers: (() => void)[] = [];
    site.answer(({ url = '' }, response) => {
      open += 1;
      most = Math.max(most, open);
      answers.push(() => {
        open -= 1;
        response.end(site.proofFor(url));
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
    // All orders name the same host.
    expect(most).toBeLessThanOrEqual(4);
    await worker.stop();
  });

  test('that fails because of this service waits until the claim expires, and is no failed attempt', async () => {
    let failures = 0;
    const worker = site.startWorker(() => {
      failures += 1;
      return Promise.reject(new KeelsonError('storage.unavailable'));
    });
    const orders = ['o0', 'o1', 'o2', 'o3', 'o4'];
    for (const order of orders) worker.take(MOUNT, await site.trigger(order));
    // Four attempts at a host are under way at once, so that the fifth follows the end of another.
    await until(() => failures === orders.length);
    expect(await site.entryOf('o0')).toMatchObject({
      attempts: 0,
      claimedUntilMs: site.clock.nowMs() + CLAIM_MS,
    });
    site.clock.advance(CLAIM_MS);
    await until(() => failures === 2 * orders.length);
    await worker.stop();
  });

  test('is released when the replica stops, without a failed attempt', async () => {
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
