import { type PostgresServer, startPostgres } from '@keelson/testkit';
import { afterAll, beforeAll } from 'vitest';
import { registerHostileQueriesContract } from './hostile-queries.contract.ts';

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

registerHostileQueriesContract('SQLite', async () => ({}));
registerHostileQueriesContract('PostgreSQL', async () => ({
  connectionString: await postgres.createDatabase('workspace'),
}));
