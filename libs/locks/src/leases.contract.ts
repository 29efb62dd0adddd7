import { ManualClock } from '@keelson/clock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HeldLease, LeaseStore } from './leases.ts';
import type { LeaseStoreOptions } from './renewing-lease-store.ts';

/** One lease storage; each call of `openStore` acts as another competing process. */
export interface LeaseCompetition extends AsyncDisposable {
  openStore(options?: LeaseStoreOptions): LeaseStore;
}

const LONG = { ttlMs: 60_000 };
const SHORT = { ttlMs: 150 };

const lost = (lease: HeldLease): Promise<unknown> =>
  new Promise((resolve) => {
    lease.lost.addEventListener('abort', () => resolve(lease.lost.reason));
    if (lease.lost.aborted) resolve(lease.lost.reason);
  });

const requireLease = async (lease: Promise<HeldLease | undefined>): Promise<HeldLease> => {
  const held = await lease;
  if (held === undefined) throw new Error('the lease is held by another');
  return held;
};

export const registerLeaseContract = (start: () => Promise<LeaseCompetition>): void => {
  let competition: LeaseCompetition;
  let opened: LeaseStore[];
  const open = (options?: LeaseStoreOptions): LeaseStore => {
    const store = competition.openStore(options);
    opened.push(store);
    return store;
  };
  const never = new AbortController().signal;

  beforeEach(async () => {
    competition = await start();
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await competition[Symbol.asyncDispose]();
  });

  describe('acquiring', () => {
    test('gives a lease to one of several', async () => {
      const stores = Array.from({ length: 5 }, () => open());
      const held = await Promise.all(stores.map((store) => store.tryAcquire('crl', LONG)));
      expect(held.filter((lease) => lease !== undefined)).toHaveLength(1);
    });

    test('keeps names apart', async () => {
      const store = open();
      expect(await store.tryAcquire('crl', LONG)).toMatchObject({ name: 'crl' });
      expect(await store.tryAcquire('tidy', LONG)).toMatchObject({ name: 'tidy' });
    });

    test('refuses a second lease of the same name to the holder itself', async () => {
      const store = open();
      await requireLease(store.tryAcquire('crl', LONG));
      expect(await store.tryAcquire('crl', LONG)).toBeUndefined();
    });

    test('waits until the holder releases', async () => {
      const first = await requireLease(open().tryAcquire('crl', SHORT));
      const waiting = open().acquire('crl', SHORT, never);
      await first.release();
      expect(await waiting).toMatchObject({ name: 'crl' });
    });

    test('stops waiting when its signal aborts', async () => {
      await requireLease(open().tryAcquire('crl', LONG));
      const stop = new AbortController();
      const waiting = open().acquire('crl', LONG, stop.signal);
      stop.abort(new Error('enough'));
      await expect(waiting).rejects.toThrow('enough');
    });

    test('does not wait when its signal has already aborted', async () => {
      await expect(open().acquire('crl', LONG, AbortSignal.abort('no'))).rejects.toBe('no');
    });

    test('stops waiting when the store is closed', async () => {
      await requireLease(open().tryAcquire('crl', LONG));
      const store = open();
      const waiting = store.acquire('crl', LONG, never);
      await store.close();
      await expect(waiting).rejects.toMatchObject({ code: 'lock.unavailable' });
    });
  });

  describe('holding', () => {
    test('lasts while it is renewed', async () => {
      const lease = await requireLease(open().tryAcquire('crl', SHORT));
      const stop = new AbortController();
      const waiting = open().acquire('crl', SHORT, stop.signal);
      // Another lease that is not renewed shows that more than a TTL has passed.
      await requireLease(open({ clock: new ManualClock() }).tryAcquire('other', SHORT));
      await open().acquire('other', SHORT, never);
      expect(lease.lost.aborted).toBe(false);
      stop.abort('done');
      await expect(waiting).rejects.toBe('done');
    });

    test('passes to another a TTL after a holder was paused', async () => {
      const stoodStill = new ManualClock();
      await requireLease(open({ clock: stoodStill }).tryAcquire('crl', SHORT));
      expect(await open().acquire('crl', SHORT, never)).toMatchObject({ name: 'crl' });
    });

    test('is signalled as lost to a holder that wakes up after a takeover', async () => {
      const stoodStill = new ManualClock();
      const first = await requireLease(open({ clock: stoodStill }).tryAcquire('crl', SHORT));
      const second = await open().acquire('crl', SHORT, never);
      stoodStill.advance(SHORT.ttlMs / 3);
      expect(await lost(first)).toMatchObject({ code: 'lock.lost', params: { name: 'crl' } });
      expect(second.lost.aborted).toBe(false);
    });

    test('is lost by the local clock when a whole TTL has passed at once', async () => {
      const clock = new ManualClock();
      const lease = await requireLease(open({ clock }).tryAcquire('crl', LONG));
      clock.advance(LONG.ttlMs);
      expect(lease.lost.aborted).toBe(true);
    });
  });

  describe('releasing', () => {
    test('frees the lease and does not signal a loss', async () => {
      const first = await requireLease(open().tryAcquire('crl', LONG));
      await first.release();
      await first.release();
      expect(first.lost.aborted).toBe(false);
      expect(await open().tryAcquire('crl', LONG)).toBeDefined();
    });

    test('after a loss leaves the new holder alone', async () => {
      const stoodStill = new ManualClock();
      const first = await requireLease(open({ clock: stoodStill }).tryAcquire('crl', SHORT));
      await open().acquire('crl', LONG, never);
      await first.release();
      expect(await open().tryAcquire('crl', LONG)).toBeUndefined();
    });

    test('happens to all leases of a store that is closed', async () => {
      const store = open();
      await requireLease(store.tryAcquire('crl', LONG));
      await store.close();
      await expect(store.tryAcquire('crl', LONG)).rejects.toMatchObject({
        code: 'lock.unavailable',
      });
      expect(await open().tryAcquire('crl', LONG)).toBeDefined();
    });
  });
};
