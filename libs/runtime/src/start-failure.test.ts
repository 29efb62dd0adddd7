import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { explainStartFailure } from './start-failure.ts';

const text = (secret = false) => Type.String({ description: '', secret });
const schema = Type.Object({
  dataDir: text(),
  logFile: text(),
  listenAddress: text(),
  rpcAddress: text(),
  httpPort: Type.Integer(),
  databaseUrl: text(true),
  clusterName: text(),
});
const config = {
  dataDir: './data',
  logFile: './data/log/keelson.log',
  listenAddress: '10.9.9.9',
  rpcAddress: '0.0.0.0:9000',
  httpPort: 8200,
  databaseUrl: 'postgres://k:hunter2@db/k',
  clusterName: 'keelson',
};

const told = (message: string, facts: object = {}): string =>
  String(explainStartFailure(Object.assign(new Error(message), facts), schema, config));

test.for([
  [
    'listen EADDRINUSE: address already in use 10.9.9.9:8200',
    { code: 'EADDRINUSE', address: '10.9.9.9', port: 8200 },
    'KEELSON_HTTP_PORT: port 8200 of 10.9.9.9 is in use by another process; end that one or set another port.',
  ],
  [
    'listen EACCES: permission denied 10.9.9.9:8200',
    { code: 'EACCES', address: '10.9.9.9', port: 8200 },
    'KEELSON_HTTP_PORT: this user may not open port 8200; take one above 1023.',
  ],
  [
    'listen EADDRNOTAVAIL: address not available 10.9.9.9:8200',
    { code: 'EADDRNOTAVAIL', address: '10.9.9.9', port: 8200 },
    'KEELSON_LISTEN_ADDRESS: 10.9.9.9 is not an address of this machine.',
  ],
  [
    "EACCES: permission denied, open './data/keelson.log'",
    { code: 'EACCES', path: './data/keelson.log' },
    'KEELSON_DATA_DIR: this user (',
  ],
  [
    "EISDIR: illegal operation on a directory, open './data/log/keelson.log'",
    { code: 'EISDIR', path: './data/log/keelson.log' },
    'KEELSON_LOG_FILE: ./data/log/keelson.log is a folder, a file is needed.',
  ],
  [
    "EEXIST: file already exists, mkdir './data'",
    { code: 'EEXIST', path: './data' },
    'KEELSON_DATA_DIR: ./data is a file, a folder is needed.',
  ],
  [
    'No address added out of total 1 resolved errors: [listen EADDRINUSE 0.0.0.0:9000]',
    {},
    'KEELSON_RPC_ADDRESS: No address added',
  ],
] as const)('%s', ([message, facts, sentence]) => {
  expect(told(message, facts)).toContain(`ConfigError: ${sentence}`);
});

test.for([
  ['KEELSON_X: as it is, ./data', {}],
  ['the unseal key is missing', {}],
  ['connection to postgres://k:hunter2@db/k failed', {}],
] as const)('stays as it is: %s', ([message, facts]) => {
  expect(told(message, facts)).toBe(`Error: ${message}`);
});

test('a name that is part of a path by chance is not the setting concerned', () => {
  const facts = { code: 'ENOENT', path: '/tmp/keelson-sandbox-x' };
  const message = "ENOENT: no such file or directory, mkdtemp '/tmp/keelson-sandbox-x'";
  expect(told(message, facts)).toBe(`Error: ${message}`);
});
