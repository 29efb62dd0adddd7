import { type PostgresServer, propertySettings, startPostgres } from '@keelson/testkit';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import { openPostgresStore } from '../postgres/postgres-store.ts';
import { findDamage, halfWords, ROOT_KEY } from './crash-records.ts';
import { runCrashWriter } from './run-crash-writer.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

test('a replica killed at any step of a commit leaves all acknowledged commits complete', async () => {
  let databases = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1500 }), async (steps) => {
      databases += 1;
      const connectionString = await server.createDatabase(`crash_${databases}`);
      const lines = await runCrashWriter({ connectionString, steps });
      const barrier = createBarrier();
      const store = await openPostgresStore({
        connectionString,
        barrier,
        projections: [halfWords],
      });
      await openBarrierFor(store, barrier, ROOT_KEY);
      expect(await findDamage(store, lines)).toEqual([]);
      await store.close();
    }),
    propertySettings({ numRuns: 6 }),
  );
});
