import { type PostgresServer, startPostgres } from '@keelson/testkit';
import { afterAll, beforeAll, describe } from 'vitest';
import { registerReplicatedStoreContract } from '../contract/replicated-store.contract.ts';
import { registerStoreContract } from '../contract/store.contract.ts';
import type { StorePlace } from '../contract/store-context.ts';
import { openPostgresStore } from './postgres-store.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

let databases = 0;
const createPlace = async (): Promise<StorePlace> => {
  databases += 1;
  const connectionString = await server.createDatabase(`store_${databases}`);
  return {
    open: (barrier, projections = []) =>
      openPostgresStore({ connectionString, barrier, projections, connectionCount: 4 }),
    remove: async () => undefined,
  };
};

describe('PostgreSQL store', () => {
  registerStoreContract(createPlace);
  registerReplicatedStoreContract(createPlace);
});
