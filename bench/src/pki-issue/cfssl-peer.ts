/**
 * A peer for comparison: Debian's cfssl, storing in SQLite with its default, durable settings. Its API
 * differs; a server with Keelson's API is measured with `--target`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { findBinary, findFreePort, ServerProcess } from '@keelson/testkit';
import autocannon from 'autocannon';
import type { BenchContext, Figure } from '../bench.ts';
import { onceEach } from './pki-server.ts';

/** Schema of its certificate database. */
const SCHEMA = `
CREATE TABLE certificates (
  serial_number blob NOT NULL, authority_key_identifier blob NOT NULL, ca_label blob, status blob NOT NULL,
  reason int, expiry timestamp, revoked_at timestamp, pem blob NOT NULL,
  PRIMARY KEY (serial_number, authority_key_identifier));
CREATE TABLE ocsp_responses (
  serial_number blob NOT NULL, authority_key_identifier blob NOT NULL, body blob NOT NULL, expiry timestamp,
  PRIMARY KEY (serial_number, authority_key_identifier));`;

const writeFiles = (folder: string): void => {
  const create = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=Peer -days 30 -keyout ${folder}/ca.key -out ${folder}/ca.pem`;
  execFileSync('openssl', create.split(' '), { stdio: 'ignore' });
  const profile = { expiry: '1h', usages: ['server auth'] };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ signing: { default: profile } }));
  const database = join(folder, 'certificates.db');
  new DatabaseSync(database).exec(SCHEMA);
  const storage = { driver: 'sqlite3', data_source: database };
  writeFileSync(join(folder, 'database.json'), JSON.stringify(storage));
};

/**
 * Requests per second of the peer at one of its endpoints, under the same load.
 * @returns undefined, with a message, if the peer is not installed
 */
export const measureCfssl = async (
  { quick, say }: BenchContext,
  endpoint: 'newcert' | 'sign',
  body: object,
  connections: number,
): Promise<Figure['limit'] | undefined> => {
  const file = await findBinary('cfssl', 'golang-cfssl').catch(() => undefined);
  if (file === undefined) {
    say('no peer: cfssl is not installed (Debian: golang-cfssl)');
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'));
  writeFiles(folder);
  const port = await findFreePort();
  const named = { ca: 'ca.pem', 'ca-key': 'ca.key', config: 'config.json' };
  const server = new ServerProcess({
    file,
    args: [
      'serve',
      ...Object.entries(named).flatMap(([name, value]) => [`-${name}`, join(folder, value)]),
      '-db-config',
      join(folder, 'database.json'),
      '-port',
      String(port),
    ],
    ready: /Now listening/,
  });
  try {
    await server.start();
    say('measuring the peer');
    const result = await autocannon({
      url: `http://127.0.0.1:${port}/api/v1/cfssl/${endpoint}`,
      method: 'POST',
      connections,
      ...(quick ? onceEach(connections) : { duration: 5 }),
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
    });
    if (result['2xx'] === 0) throw new Error(`the peer refused all ${result.non2xx} requests`);
    return { name: 'cfssl on SQLite', value: result['2xx'] / result.duration };
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};
