/** PostgreSQL over TLS: the server proves its name by a certificate of the authority in the settings. */
import { chown } from 'node:fs/promises';
import { startPostgres, temporaryDirectory, writeCertificates } from '@keelson/testkit';
import { afterAll, expect, test } from 'vitest';
import { examineDatabase } from './examine-database.ts';
import { PostgresConnections, withAuthority } from './postgres-connections.ts';

const NOBODY = 65_534;
const folder = await temporaryDirectory();
const other = await temporaryDirectory();
const tls = await writeCertificates(folder.path);
const strange = await writeCertificates(other.path);
// PostgreSQL accepts a key of its own user only.
if (process.getuid?.() === 0)
  for (const file of [folder.path, tls.keyFile]) await chown(file, NOBODY, NOBODY);
const server = await startPostgres({
  settings: { ssl: 'on', ssl_cert_file: tls.certificateFile, ssl_key_file: tls.keyFile },
});
afterAll(async () => {
  for (const part of [server, folder, other]) await part[Symbol.asyncDispose]();
});

const isEncrypted = async (connectionString: string, authorityFile: string | undefined) => {
  const connections = new PostgresConnections(withAuthority(connectionString, authorityFile));
  try {
    const [row] = await connections.query<{ ssl: boolean }>(
      'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
    );
    return row?.ssl;
  } finally {
    await connections.close();
  }
};

test('connections are encrypted with the authority of the server, and not without it', async () => {
  expect(await isEncrypted(server.connectionString, tls.authorityFile)).toBe(true);
  expect(
    await isEncrypted(`${server.connectionString}?application_name=x`, tls.authorityFile),
  ).toBe(true);
  expect(await isEncrypted(server.connectionString, undefined)).toBe(false);
  expect(await examineDatabase(server.connectionString, tls.authorityFile)).toMatchObject({
    isReadOnly: false,
  });
});

test('a server of another authority, or of another name, is refused', async () => {
  await expect(isEncrypted(server.connectionString, strange.authorityFile)).rejects.toThrow(
    /cannot be reached|unavailable|certificate|SSL/,
  );
  const renamed = server.connectionString.replace('127.0.0.1', '127.0.0.2');
  await expect(isEncrypted(renamed, tls.authorityFile)).rejects.toThrow(
    /cannot be reached|unavailable|certificate|SSL/,
  );
});

test('a server without TLS is refused', async () => {
  await using plain = await startPostgres();
  await expect(isEncrypted(plain.connectionString, tls.authorityFile)).rejects.toThrow(
    /cannot be reached|unavailable|certificate|SSL/,
  );
});
