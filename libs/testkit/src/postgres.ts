/**
 * PostgreSQL refuses to run as root, so that root runs it as `nobody`. Creating a database cluster takes a
 * second, so that it is created once per machine and version, and then copied.
 */
import { execFile } from 'node:child_process';
import { chown, cp, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { findBinary } from './find-binary.ts';
import { findFreePort } from './free-port.ts';
import { ServerProcess } from './server-process.ts';

const run = promisify(execFile);

const NOBODY = { uid: 65_534, gid: 65_534 };
const unprivileged = process.getuid?.() === 0 ? NOBODY : undefined;
const DEBIAN_PACKAGE = 'postgresql';

export interface PostgresOptions {
  /**
   * Server settings by name, overriding the defaults (fsync is off, because no test cuts the power of
   * PostgreSQL).
   */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  /** Connection string of the database `postgres`, as superuser. */
  readonly connectionString: string;
  readonly process: ServerProcess;
  /** Creates an empty database; returns its connection string. */
  createDatabase(name: string): Promise<string>;
  /** Replaces the database with an empty one. No client may be connected. */
  emptyDatabase(name: string): Promise<void>;
  /** The first row that the statement returns in the database. */
  firstRow(database: string, sql: string): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Keeps others from writing to the table until it is disposed of. */
  lockTable(database: string, table: string): Promise<AsyncDisposable>;
}

const ownedDirectory = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'keelson-postgres-'));
  if (unprivileged !== undefined) await chown(path, unprivileged.uid, unprivileged.gid);
  return path;
};

const clusterTemplate = async (): Promise<string> => {
  const initdb = await findBinary('initdb', DEBIAN_PACKAGE);
  const { stdout } = await run(initdb, ['--version']);
  const version =
    stdout
      .replaceAll(/[^0-9.]+/g, ' ')
      .trim()
      .split(' ')[0] ?? '';
  const owner = unprivileged?.uid ?? process.getuid?.() ?? 0;
  const template = join(tmpdir(), `keelson-postgres-template-${version}-${owner}`);
  const existing = await stat(template).catch(() => undefined);
  if (existing?.uid === owner) return template;
  const made = await ownedDirectory();
  const args = ['--pgdata', made, '--username', 'postgres', '--auth', 'trust', '--no-sync'];
  await run(initdb, [...args, '--encoding', 'UTF8', '--locale', 'C'], {
    cwd: tmpdir(),
    ...unprivileged,
  });
  // Renaming fails when another process was faster, whose template is equivalent.
  await rename(made, template).catch(() => rm(made, { recursive: true, force: true }));
  return template;
};

/** Copies as the user who owns the files, which may be another than that of this process. */
const copyCluster = async (template: string, target: string): Promise<void> => {
  if (unprivileged === undefined) await cp(template, target, { recursive: true });
  else await run('cp', ['-a', `${template}/.`, target], { ...unprivileged, cwd: tmpdir() });
};

/** A PostgreSQL server on a free loopback port. */
export const startPostgres = async (options: PostgresOptions = {}): Promise<PostgresServer> => {
  const file = await findBinary('postgres', DEBIAN_PACKAGE);
  const folder = await ownedDirectory();
  await copyCluster(await clusterTemplate(), folder);
  const port = await findFreePort();
  const settings: Record<string, string> = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    shared_buffers: '32MB',
    ...options.settings,
  };
  const server = new ServerProcess({
    file,
    args: [
      '-D',
      folder,
      ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    ],
    ready: /database system is ready to accept connections/,
    // "Fast" shutdown: ends sessions instead of waiting for them.
    stopSignal: 'SIGINT',
    ...(unprivileged === undefined ? {} : { user: unprivileged }),
  });
  await server.start();
  const addressOf = (database: string): string =>
    `postgres://postgres@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  const connect = async (database: string): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: addressOf(database) });
    await client.connect();
    return client;
  };
  const firstRow: PostgresServer['firstRow'] = async (database, sql) => {
    const client = await connect(database);
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows[0];
    } finally {
      await client.end();
    }
  };
  const execute = async (sql: string): Promise<void> => {
    await firstRow('postgres', sql);
  };
  return {
    port,
    connectionString: addressOf('postgres'),
    process: server,
    async createDatabase(name) {
      await execute(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
      return addressOf(name);
    },
    async emptyDatabase(name) {
      await execute(`DROP DATABASE ${pg.escapeIdentifier(name)}`);
      await execute(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
    },
    firstRow,
    async lockTable(database, table) {
      const client = await connect(database);
      await client.query(`BEGIN; LOCK TABLE ${pg.escapeIdentifier(table)} IN SHARE MODE`);
      return { [Symbol.asyncDispose]: () => client.end() };
    },
    async [Symbol.asyncDispose]() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
