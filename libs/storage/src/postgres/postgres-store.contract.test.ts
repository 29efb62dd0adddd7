import { type PostgresServer, startPostgres } from '@keelson/testkit';
import { type PgBouncer, startPgBouncer } from '@keelson/testkit/high-availability';
import { afterAll, beforeAll, describe } from 'vitest';
import { declaredKinds } from '../collections/table.ts';
import { registerReplicatedStoreContract } from '../contract/replicated-store.contract.ts';
import { registerRolloutContract } from '../contract/rollout.contract.ts';
import { registerStoreContract } from '../contract/store.contract.ts';
import type { StoreLocation } from '../contract/store-context.ts';
import { openPostgresStore } from './postgres-store.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

let databases = 0;
const createPlace = async ({
  port,
  password,
}: Pick<PgBouncer, 'port' | 'password'>): Promise<StoreLocation> => {
  databases += 1;
  const direct = await server.createDatabase(`store_${databases}`);
  const connectionString = direct.replace(/@[^/]*/, `:${password}@127.0.0.1:${port}`);
  return {
    open: (barrier, projections = [], kinds = declaredKinds()) =>
      openPostgresStore({ connectionString, barrier, projections, kinds, connectionCount: 4 }),
    remove: async () => undefined,
  };
};

describe('PostgreSQL store', () => {
  const direct = () => createPlace({ port: server.port, password: '' });
  registerStoreContract(direct);
  registerReplicatedStoreContract(direct);
  registerRolloutContract(direct);
});

describe('PostgreSQL store through PgBouncer, which gives its connections away between transactions', () => {
  let pooler: PgBouncer;
  beforeAll(async () => {
    pooler = await startPgBouncer(server.port);
  });
  afterAll(() => pooler[Symbol.asyncDispose]());

  registerReplicatedStoreContract(() => createPlace(pooler));
  registerRolloutContract(() => createPlace(pooler));
});
