/** PostgreSQL on several machines: Patroni, with etcd for its decisions, makes one of them the primary. */
import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { findBinary } from '../find-binary.ts';
import { findFreePort } from '../free-port.ts';
import { ServerProcess } from '../server-process.ts';
import { writeExample } from './example-file.ts';
import { machineProcess, unprivilegedUser } from './lost-machine.ts';

const NODES = 3;
const ASK_EVERY_MS = 100;
const newPassword = (): string => randomBytes(16).toString('hex');
/** Its name is that in deploy/high-availability/patroni.yml. */
export const SUPERUSER = { username: 'postgres', password: newPassword() };
const PASSWORDS = {
  PATRONI_SUPERUSER_PASSWORD: SUPERUSER.password,
  PATRONI_REPLICATION_PASSWORD: newPassword(),
  PATRONI_REWIND_PASSWORD: newPassword(),
};

const USER = `${SUPERUSER.username}:${SUPERUSER.password}`;

export interface PatroniNode {
  readonly name: string;
  /** The port of PostgreSQL. */
  readonly port: number;
  /** The port of Patroni: `GET /primary` is 200 on the primary only. */
  readonly restPort: number;
  /** Patroni with its PostgreSQL. */
  readonly process: ServerProcess;
}

export interface PatroniCluster extends AsyncDisposable {
  readonly nodes: readonly PatroniNode[];
  /** Creates an empty database; returns a connection string with all nodes. */
  createDatabase(name: string): Promise<string>;
  /** Waits until there is a primary, and a standby that has everything it confirms. */
  healthy(): Promise<PatroniNode>;
  /** A planned change of roles; resolves when the former standby is the primary. */
  switchOver(): Promise<void>;
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

const startEtcd = async (folder: string): Promise<{ port: number; process: ServerProcess }> => {
  const [port, peerPort] = [await findFreePort(), await findFreePort()];
  const url = `http://127.0.0.1:${port}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const process = new ServerProcess({
    file: await findBinary('etcd', 'etcd-server'),
    args: [
      `--data-dir=${join(folder, 'etcd')}`,
      '--unsafe-no-fsync',
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
    ],
    ready: /ready to serve client requests/,
  });
  await process.start();
  return { port, process };
};

/** The settings in which nodes differ from deploy/high-availability/patroni.yml, as Patroni reads them. */
const environmentOf = (
  { name, port, restPort }: Omit<PatroniNode, 'process'>,
  { folder, etcdPort }: { readonly folder: string; readonly etcdPort: number },
): Readonly<Record<string, string>> => ({
  ...PASSWORDS,
  PATRONI_NAME: name,
  PATRONI_ETCD3_HOSTS: `"127.0.0.1:${etcdPort}"`,
  PATRONI_RESTAPI_LISTEN: `127.0.0.1:${restPort}`,
  PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${restPort}`,
  PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${port}`,
  PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${port}`,
  PATRONI_POSTGRESQL_DATA_DIR: join(folder, name),
  PATRONI_POSTGRESQL_PGPASS: join(folder, `${name}.pgpass`),
});

/** A primary and two standbys on free loopback ports. */
export const startPatroni = async (): Promise<PatroniCluster> => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'keelson-patroni-'));
  if (unprivilegedUser !== undefined)
    await chown(folder, unprivilegedUser.uid, unprivilegedUser.gid);
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const etcd = await startEtcd(folder);
  stack.defer(() => etcd.process.kill());
  const patroni = await findBinary('patroni', 'patroni');
  const settings = await writeExample(folder, 'patroni.yml', {
    '/usr/lib/postgresql/15/bin': dirname(await findBinary('pg_controldata', 'postgresql')),
    '    max_connections: 200': "    max_connections: 200\n    unix_socket_directories: ''",
  });
  const nodes: PatroniNode[] = [];
  for (let number = 1; number <= NODES; number += 1) {
    const place = {
      name: `node${number}`,
      port: await findFreePort(),
      restPort: await findFreePort(),
    };
    const environment = environmentOf(place, { folder, etcdPort: etcd.port });
    const process = await machineProcess({
      file: await findBinary('env', 'coreutils'),
      args: [
        ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
        patroni,
        settings,
      ],
      ready: /I am .*(the leader with the lock|a secondary)/,
    });
    stack.defer(() => process.kill());
    nodes.push({ ...place, process });
  }
  const [first, ...others] = nodes;
  await first?.process.start();
  await Promise.all(others.map((node) => node.process.start()));

  /** The members as any node that answers knows them. */
  const members = async (): Promise<readonly Member[]> => {
    for (const { restPort } of nodes) {
      const answer = await fetch(`http://127.0.0.1:${restPort}/cluster`).catch(() => undefined);
      if (answer?.ok === true)
        return ((await answer.json()) as { readonly members: readonly Member[] }).members;
    }
    return [];
  };
  const untilHealthy = async (isWanted: (primary: string) => boolean) => {
    for (;;) {
      const found = await members();
      const primary = found.find(({ role, state }) => role === 'leader' && state === 'running');
      const hasStandby = found.some(({ role }) => role === 'sync_standby');
      const node = nodes.find(({ name }) => name === primary?.name);
      if (node !== undefined && hasStandby && isWanted(node.name)) return node;
      await delay(ASK_EVERY_MS);
    }
  };
  const cluster: PatroniCluster = {
    nodes,
    healthy: () => untilHealthy(() => true),
    createDatabase: async (name) => {
      const { port } = await cluster.healthy();
      const client = new pg.Client({
        connectionString: `postgres://${USER}@127.0.0.1:${port}/postgres`,
      });
      await client.connect();
      try {
        await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
      } finally {
        await client.end();
      }
      const hosts = nodes.map((node) => `127.0.0.1:${node.port}`).join();
      return `postgres://${USER}@${hosts}/${encodeURIComponent(name)}`;
    },
    switchOver: async () => {
      const former = await cluster.healthy();
      const answer = await fetch(`http://127.0.0.1:${former.restPort}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: former.name }),
      });
      if (!answer.ok) throw new Error(`switchover: ${answer.status} ${await answer.text()}`);
      await untilHealthy((primary) => primary !== former.name);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  await cluster.healthy();
  const owned = stack.move();
  return cluster;
};
