/** The number of promotions of a set, between a secondary and primaries that do not know of each other. */
import { type NatsServer, startNats } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findDeviations, put, startPrimary, startSecondary } from './cluster.ts';

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats({ jetstream: true });
}, 120_000);
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
});

test.for(['performance', 'dr'] as const)(
  'a %s secondary learns of a promotion, and takes nothing from a primary with a lower number',
  { timeout: 120_000 },
  async (kind) => {
    await using primary = await startPrimary(nats.url, kind);
    primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    await put(primary.store, { 'shared/first': 'before' });
    await secondary.untilCaughtUp(primary);
    await primary.membership.succeed(2);
    await put(primary.store, { 'shared/first': 'after' });
    await secondary.untilCaughtUp(primary);
    expect(await secondary.secondary.promotion.load()).toBe(2);

    // Simulates a superseded primary that does not know: it publishes the followed log with its old number.
    secondary.failures.length = 0;
    await primary.membership.succeed(1);
    await put(primary.store, { 'shared/first': 'of the superseded' });
    await secondary.until(({ state }) => state === 'idle');
    expect(secondary.failures).toContainEqual(
      expect.objectContaining({ code: 'replication.superseded' }),
    );
    await secondary.restart();
    await secondary.until(({ connectionState }) => connectionState === 'transient_failure');
    const kept = await secondary.store.read('shared/first');
    expect(Buffer.from(kept?.value ?? []).toString()).toBe('after');
    expect(primary.heardOf).toContain(2);

    await primary.membership.succeed(2);
    await secondary.untilCaughtUp(primary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
  },
);
