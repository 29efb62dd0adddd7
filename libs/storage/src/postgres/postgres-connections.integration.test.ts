/** The last statements of a transaction, which are sent together with COMMIT. */
import { type PostgresServer, startPostgres } from '@keelson/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { PostgresConnections } from './postgres-connections.ts';

let server: PostgresServer;
let connections: PostgresConnections;

beforeAll(async () => {
  server = await startPostgres();
  connections = new PostgresConnections(server.connectionString, 1);
  await connections.query('CREATE TABLE written (name text PRIMARY KEY)');
});
afterAll(async () => {
  await connections.close();
  await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await connections.query('TRUNCATE written');
});

const put = (name: string) => ({ sql: 'INSERT INTO written VALUES ($1)', values: [name] });
const names = async (): Promise<readonly string[]> =>
  (await connections.query<{ name: string }>('SELECT name FROM written ORDER BY name')).map(
    ({ name }) => name,
  );

test('are all written', async () => {
  await connections.transaction('SELECT 1', async (client) => {
    await client.query('INSERT INTO written VALUES ($1)', ['a']);
    return [put('b'), put('c')];
  });
  expect(await names()).toEqual(['a', 'b', 'c']);
});

test.each([
  ['the first', [put('a'), put('b')]],
  ['one between others', [put('b'), put('a'), put('c')]],
  ['the last', [put('b'), put('a')]],
])('write nothing when %s is refused, with its error', async (_which, statements) => {
  await connections.query('INSERT INTO written VALUES ($1)', ['a']);
  await expect(connections.transaction('SELECT 1', async () => statements)).rejects.toMatchObject({
    code: '23505',
  });
  expect(await names()).toEqual(['a']);
});

test('leave the outcome unknown when the connection is lost with them', async () => {
  const ended = { sql: 'SELECT pg_terminate_backend(pg_backend_pid())', values: [] };
  await expect(
    connections.transaction('SELECT 1', async () => [put('a'), ended]),
  ).rejects.toMatchObject({ code: 'storage.outcome_unknown' });
  expect(await names()).toEqual([]);
});
