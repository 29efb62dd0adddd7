/** First attempts on a store, with a web server that answers, refuses, or delays its answer. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openChallengeSite, until } from '../../../test/challenge-site.ts';
import { AcmeProblem } from '../problems/problem.ts';
import { WRONG_ANSWER_DELAY_MS } from './domain/attempt-schedule.ts';

let site: Awaited<ReturnType<typeof openChallengeSite>>;
let worker: ReturnType<typeof site.startWorker>;
beforeEach(async () => {
  site = await openChallengeSite();
  worker = site.startWorker();
  await site.order('o1');
});
afterEach(async () => {
  await worker.stop();
  await site.close();
});

/** Resolves when the web server is asked; the test decides when it answers. */
const holdAnswers = () => {
  const asked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  site.answer(({ url = '' }, response) => {
    asked.resolve();
    void release.promise.then(() => response.end(site.proofFor(url)));
  });
  return { asked: asked.promise, release: () => release.resolve() };
};

describe('the first attempt at a challenge', () => {
  test('that ends at once is one commit, which the answer shows', async () => {
    site.answerRight();
    const before = await site.store.position();
    const shown = await worker.begin('o1');
    expect(shown).toMatchObject({ status: 'valid', challenges: [{ status: 'valid' }] });
    expect(await site.store.position()).toBe(before + 1);
    expect(await site.challengeOf('o1')).toMatchObject({ status: 'valid' });
    expect(await site.entryOf('o1')).toBeUndefined();
  });

  test('that fails is shown, and retried', async () => {
    const shown = await worker.begin('o1');
    expect(shown).toMatchObject({
      status: 'pending',
      challenges: [{ status: 'processing', error: { type: 'incorrectResponse' } }],
    });
    expect(await site.entryOf('o1')).toMatchObject({ attempts: 1, claimedUntilMs: 0 });
    site.answerRight();
    site.clock.advance(WRONG_ANSWER_DELAY_MS);
    await until(async () => (await site.challengeOf('o1'))?.status === 'valid');
    expect(await site.entryOf('o1')).toBeUndefined();
    expect(site.requests).toHaveLength(2);
  });

  test('that takes long is meanwhile in the queue, claimed', async () => {
    const { asked, release } = holdAnswers();
    const begun = worker.begin('o1');
    await asked;
    expect(await site.challengeOf('o1')).toMatchObject({ status: 'pending' });
    site.clock.advance(500);
    expect(await begun).toMatchObject({ challenges: [{ status: 'processing' }] });
    expect(await site.entryOf('o1')).toMatchObject({ attempts: 0 });
    expect((await site.entryOf('o1'))?.claimedUntilMs).toBeGreaterThan(site.clock.nowMs());
    release();
    await until(async () => (await site.challengeOf('o1'))?.status === 'valid');
    expect(await site.entryOf('o1')).toBeUndefined();
    expect(site.requests).toHaveLength(1);
  });

  test('is made once for a client that asks twice', async () => {
    const { asked, release } = holdAnswers();
    const begun = [worker.begin('o1'), worker.begin('o1')];
    await asked;
    release();
    for (const shown of await Promise.all(begun)) expect(shown).toMatchObject({ status: 'valid' });
    expect(site.requests).toHaveLength(1);
  });

  test('of two replicas at once is recorded once', async () => {
    const other = site.startWorker();
    const { asked, release } = holdAnswers();
    const begun = [worker.begin('o1'), other.begin('o1')];
    await asked;
    await until(() => site.requests.length === 2);
    const before = await site.store.position();
    release();
    for (const shown of await Promise.all(begun)) expect(shown).toMatchObject({ status: 'valid' });
    expect(await site.store.position()).toBe(before + 1);
    await other.stop();
  });

  test('that outlives its order is refused', async () => {
    const { asked, release } = holdAnswers();
    const begun = worker.begin('o1');
    await asked;
    await site.giveUp('o1');
    release();
    await expect(begun).rejects.toThrow(AcmeProblem);
    expect(await site.entryOf('o1')).toBeUndefined();
  });

  test('waits in the queue while there is no slot', async () => {
    const { release } = holdAnswers();
    const orders = ['o2', 'o3', 'o4', 'o5'];
    for (const order of orders) await site.order(order);
    // All orders name the same host.
    const begun = orders.map((order) => worker.begin(order));
    await until(() => site.requests.length === orders.length);
    expect(await worker.begin('o1')).toMatchObject({ challenges: [{ status: 'processing' }] });
    expect(await site.entryOf('o1')).toMatchObject({ attempts: 0 });
    release();
    for (const shown of await Promise.all(begun)) expect(shown).toMatchObject({ status: 'valid' });
    await until(async () => (await site.challengeOf('o1'))?.status === 'valid');
  });

  test('remains in the queue when its replica stops', async () => {
    const { asked } = holdAnswers();
    const begun = worker.begin('o1');
    await asked;
    await worker.stop();
    expect(await begun).toMatchObject({ challenges: [{ status: 'processing' }] });
    expect(await site.entryOf('o1')).toMatchObject({ attempts: 0, claimedUntilMs: 0 });
    site.answerRight();
    worker = site.startWorker();
    await until(async () => (await site.challengeOf('o1'))?.status === 'valid');
  });
});
