/** The promotion numbers that a secondary accepts, with a store on disk. */
import { join } from 'node:path';
import { createBarrier, openSqliteStore } from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { KnownPromotion } from './known-promotion.ts';

test.for(['performance', 'dr'] as const)(
  'a %s secondary refuses a lower number than it knows, also after a restart',
  async (kind) => {
    await using directory = await temporaryDirectory();
    const barrier = createBarrier();
    barrier.initialize(new Uint8Array(32).fill(1));
    const open = () => openSqliteStore({ file: join(directory.path, 'store.db'), barrier });
    const superseded = { code: 'replication.superseded_primary' };
    let store = await open();
    let known = new KnownPromotion(store, kind, 'set');
    expect(await known.load()).toBe(0);
    await known.accept(2);
    await known.accept(2);
    await expect(known.accept(1)).rejects.toMatchObject(superseded);
    await known.note(1);
    expect(await known.load()).toBe(2);
    await store.close();
    store = await open();
    known = new KnownPromotion(store, kind, 'set');
    await expect(known.accept(1)).rejects.toMatchObject(superseded);
    await known.accept(3);
    expect(await known.load()).toBe(3);
    // Every set has a number of its own.
    expect(await new KnownPromotion(store, kind, 'another').load()).toBe(0);
    await store.close();
  },
);
