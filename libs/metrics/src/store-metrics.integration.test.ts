/** The figures of a store, on a real one. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBarrier, openBarrierFor, openSqliteStore } from '@keelson/storage';
import { expect, test } from 'vitest';
import { createRegistry } from './metrics.ts';
import { registerStoreMetrics } from './store-metrics.ts';

test('repeated and abandoned transactions are counted by service', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'store-metrics-'));
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: join(folder, 'store.db'), barrier });
  try {
    await openBarrierFor(store, barrier, new Uint8Array(32));
    const registry = createRegistry('1.2.3');
    registerStoreMetrics(registry, { sys: store });
    const counts = async () =>
      (await registry.metrics()).match(/^keelson_store_(?:repeats|conflicts)_total.*$/gm);
    expect(await counts()).toEqual([
      'keelson_store_repeats_total{service="sys"} 0',
      'keelson_store_conflicts_total{service="sys"} 0',
    ]);
    let runs = 0;
    await store.transact(async (tx) => {
      await tx.read('shared/a');
      runs += 1;
      if (runs === 1) await store.transact((other) => other.write('shared/a', Buffer.from('1')));
      tx.write('shared/b', Buffer.from('1'));
    });
    expect(await counts()).toEqual([
      'keelson_store_repeats_total{service="sys"} 1',
      'keelson_store_conflicts_total{service="sys"} 0',
    ]);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});
