/**
 * The walls of docker-compose.yml in a Docker engine: connections tried from the container that executes runs, and
 * with the accounts that services have in the stores. The installation begins with a database volume of the time when
 * services came as the superuser with a password that everybody knew.
 *
 * | from                | to                                              | held by                           |
 * | ------------------- | ----------------------------------------------- | --------------------------------- |
 * | runner              | a store or service by its name                  | no such name in its network       |
 * | runner              | every address and port of every other container | networks of their own             |
 * | runner              | link-local addresses, credentials of a cloud    | link-local addresses of its own   |
 * | runner              | link-local addresses of the machine itself      | link-local addresses of its own   |
 * | runner              | `proxy`                                         | open: runs report through it      |
 * | a store's neighbour | PostgreSQL with the former password             | a password made by `trust`        |
 * | a service's role    | the database of another, rights of a superuser  | roles of their own                |
 * | a store's neighbour | Redis and NATS without a password or key        | users made by `trust`             |
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { networksOf, readCompose } from './compose-file.ts';
import { buildImages, REPOSITORY, type TestImages } from './images.ts';

const run = promisify(execFile);
const SET_UP_LIMIT_MS = 600_000;
const NODE = '/keelson/node_modules/node/bin/node';
/** Ports on which containers of the installation listen. */
const PORTS = [4222, 5432, 6379, 8200, 8222, 8443, 8444, 9000, 9001];
/** Connects to each `host:port` given, and prints which could be reached. */
const CONNECT = `
const { connect } = require('node:net');
const tried = process.argv.slice(1).map((target) => new Promise((resolve) => {
  const at = target.lastIndexOf(':');
  const socket = connect({ host: target.slice(0, at), port: Number(target.slice(at + 1)), timeout: 3000 });
  const end = (is) => { socket.destroy(); resolve(is ? [target] : []); };
  socket.on('connect', () => end(true)).on('timeout', () => end(false)).on('error', () => end(false));
}));
Promise.all(tried).then((reached) => { console.log(JSON.stringify(reached.flat())); process.exit(0); });
`;

const project = `keelson-${randomBytes(4).toString('hex')}`;
let images: TestImages;
let folder: TemporaryDirectory;

const compose = async (...args: readonly string[]): Promise<string> => {
  const env = {
    ...process.env,
    ...images.environment,
    KEELSON_PORT: '127.0.0.1:0',
    KEELSON_TOOLS_FOLDER: folder.path,
  };
  const options = { cwd: REPOSITORY, env, maxBuffer: 64 * 1024 * 1024 };
  return (await run('docker-compose', ['-p', project, ...args], options)).stdout;
};
const docker = async (...args: readonly string[]): Promise<string> =>
  (await run('docker', args)).stdout.trim();

/** @returns which of the targets the code in a container can connect to */
const reachedFrom = async (
  service: string,
  targets: readonly string[],
): Promise<readonly string[]> =>
  JSON.parse(await compose('exec', '-T', service, NODE, '-e', CONNECT, ...targets)) as string[];
const reachedByRuns = (targets: readonly string[]) => reachedFrom('runner', targets);

/** Answers or refusal of PostgreSQL. */
const askPostgres = (account: string, database: string, sql: string): Promise<string> => {
  const url = `postgres://${account}@postgres/${database}`;
  return compose('exec', '-T', 'postgres', 'psql', '-qtA', url, '-c', sql).then(
    (stdout) => stdout.trim(),
    (refused: { readonly stderr: string }) => refused.stderr.trim(),
  );
};
const accountOf = async (role: string): Promise<string> => {
  const file = `/run/postgres-passwords/${role}`;
  return `${role}:${(await compose('exec', '-T', 'postgres', 'cat', file)).trim()}`;
};

/** Begins at any address of the container, and at any interface, which needs no right. Prints which succeeded. */
const CONNECT_FROM = `
use Socket;
my @sources = ('0.0.0.0', split ' ', shift);
for my $target (@ARGV) {
  my ($host, $port) = split ':', $target;
  for my $interface ('', map { s{.*/}{}r } glob '/sys/class/net/*') {
    for my $source (@sources) {
      socket my $socket, PF_INET, SOCK_STREAM, 0;
      !$interface or setsockopt $socket, SOL_SOCKET, 25, "$interface\\0" or die "interface: $!";
      bind $socket, pack_sockaddr_in(0, inet_aton $source) or die "address: $!";
      my $timeout = pack 'l!l!', 2, 0;
      setsockopt $socket, SOL_SOCKET, SO_SNDTIMEO, $timeout or die "time: $!";
      my $reached = connect $socket, pack_sockaddr_in($port, inet_aton $host);
      print "$target from $source $interface\\n" if $reached;
    }
  }
}
`;

/** @returns which of the targets a process with the user of a run can connect to in any way */
const reachedByUserOfRuns = async (targets: readonly string[]): Promise<string> => {
  const id = (await compose('ps', '-q', 'runner')).trim();
  const own = await docker(
    'inspect',
    '--format',
    '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}',
    id,
  );
  const perl = ['perl', '-e', CONNECT_FROM, own, ...targets];
  return docker('exec', '--user', '60100:60100', id, ...perl);
};

interface LinkLocalServers extends AsyncDisposable {
  /** Beyond the machine, as clouds have one. */
  readonly target: string;
  /** At an address of the machine itself. */
  readonly machine: string;
}

/** Servers at link-local addresses, until they are disposed of. */
const openCloud = async (): Promise<LinkLocalServers> => {
  const name = `cloud-${randomBytes(3).toString('hex')}`;
  const ip = (...args: readonly string[]) => run('ip', args);
  await ip('netns', 'add', name);
  await ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'inside', 'netns', name);
  await ip('addr', 'add', '169.254.77.1/30', 'dev', name);
  await ip('link', 'set', name, 'up');
  await ip('-n', name, 'addr', 'add', '169.254.77.2/30', 'dev', 'inside');
  await ip('-n', name, 'link', 'set', 'inside', 'up');
  const program = `require('node:net').createServer((s) => s.end()).listen(80, () => console.log('up'))`;
  const server = spawn('ip', ['netns', 'exec', name, process.execPath, '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(server.stdout, 'data');
  const own = createServer((socket) => socket.end()).listen(0, '169.254.77.1');
  await once(own, 'listening');
  return {
    target: '169.254.77.2:80',
    machine: `169.254.77.1:${(own.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      own.close();
      server.kill('SIGKILL');
      await once(server, 'exit');
      await ip('link', 'del', name);
      await ip('netns', 'del', name);
    },
  };
};

/** A volume as the superuser left it, who made the databases and what is in them. */
const makeFormerVolume = async (): Promise<void> => {
  const { POSTGRES_IMAGE: image = '' } = images.environment;
  const volume = `${project}_postgres`;
  const name = `${project}-former`;
  const options = [
    '--env=POSTGRES_PASSWORD=keelson',
    `--volume=${volume}:/var/lib/postgresql/data`,
  ];
  await docker('run', '--detach', `--name=${name}`, ...options, image, 'postgres');
  const psql = (database: string, sql: string) =>
    docker(
      'exec',
      name,
      'psql',
      '-qtA',
      `postgres://postgres:keelson@127.0.0.1/${database}`,
      '-c',
      sql,
    );
  await vi.waitFor(() => psql('postgres', 'SELECT 1'), { timeout: 60_000, interval: 200 });
  for (const database of ['sys', 'pki', 'workspace'])
    await psql('postgres', `CREATE DATABASE ${database}`);
  await psql('workspace', 'CREATE TABLE kept (id BIGSERIAL PRIMARY KEY, is_kept BOOLEAN)');
  await psql('workspace', 'INSERT INTO kept (is_kept) VALUES (true)');
  await docker('stop', name);
  await docker('rm', name);
};

beforeAll(async () => {
  images = await buildImages();
  folder = await temporaryDirectory();
  await makeFormerVolume();
  await compose('up', '-d');
}, SET_UP_LIMIT_MS);
afterAll(async () => {
  await compose('down', '-v', '--timeout', '5');
  await folder[Symbol.asyncDispose]();
  await images[Symbol.asyncDispose]();
}, SET_UP_LIMIT_MS);

test('the installation starts over the volume of the superuser, and is ready once it is initialized', async () => {
  const base = `http://${(await compose('port', 'proxy', '8200')).trim()}`;
  const body = JSON.stringify({ recovery_shares: 1, recovery_threshold: 1 });
  const initialize = () => fetch(`${base}/v1/sys/init`, { method: 'PUT', body });
  await vi.waitFor(async () => expect((await initialize()).status).toBe(200), {
    timeout: 180_000,
    interval: 500,
  });
  await vi.waitFor(async () => expect((await fetch(`${base}/readyz`)).status).toBe(200), {
    timeout: 180_000,
    interval: 500,
  });
}, 400_000);

describe('the code of a run', () => {
  test('connects to no other container, by name or by address, but to the proxy', async () => {
    const { services } = readCompose();
    const ids = (await compose('ps', '-q')).trim().split('\n');
    const format =
      '{{index .Config.Labels "com.docker.compose.service"}}{{range .NetworkSettings.Networks}} {{.IPAddress}}{{end}}';
    const lines = (await docker('inspect', '--format', format, ...ids)).split('\n');
    const addresses = new Map(
      lines.map((line) => {
        const [name = '', ...found] = line.split(' ');
        return [name, found.filter((address) => address !== '' && address !== 'invalid')] as const;
      }),
    );
    const others = [...addresses].filter(([name]) => name !== 'runner' && name !== 'proxy');
    expect(others.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        'auth',
        'gateway',
        'nats',
        'pki',
        'postgres',
        'redis',
        'sys',
        'workspace',
      ]),
    );
    // Each container has an address in each of its networks while it runs.
    for (const name of ['postgres', 'redis', 'nats', 'sys', 'gateway'])
      expect(addresses.get(name)).toHaveLength(networksOf(services[name] ?? { image: '' }).length);
    const hosts = others.flatMap(([name, found]) => [name, ...found]);
    expect(
      await reachedByRuns(hosts.flatMap((host) => PORTS.map((port) => `${host}:${port}`))),
    ).toEqual([]);
    expect(await reachedByRuns(['proxy:8200', 'proxy:22', 'primary-nats:4222'])).toEqual([
      'proxy:8200',
    ]);
  }, 120_000);

  test('connects to no link-local address, where clouds give credentials of the machine', async () => {
    await using cloud = await openCloud();
    const { target, machine } = cloud;
    // As any other container does.
    expect(await reachedFrom('gateway', [target, machine])).toEqual([target, machine]);
    const metadata = ['169.254.169.254:80', '169.254.170.2:80'];
    expect(await reachedByRuns([target, machine, ...metadata, `::ffff:${metadata[0]}`])).toEqual(
      [],
    );
    expect(await reachedByUserOfRuns([target, machine, ...metadata])).toBe('');
    expect(await compose('exec', '-T', 'runner', 'cat', '/proc/net/if_inet6')).toBe('');
  }, 240_000);

  test('has none of the rights that its container had for that', async () => {
    const status = await compose('exec', '-T', 'runner', 'cat', '/proc/1/status');
    // CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_KILL, CAP_SETGID, CAP_SETUID.
    expect(status).toMatch(/^CapPrm:\t00000000000000e3$/m);
    expect(status).toMatch(/^CapBnd:\t00000000000000e3$/m);
  });
});

describe('a neighbour of the stores', () => {
  test('is refused by PostgreSQL with the former password', async () => {
    expect(await askPostgres('postgres:keelson', 'workspace', 'SELECT 1')).toContain(
      'password authentication failed for user "postgres"',
    );
  });

  test('has the role of one database, which is no superuser', async () => {
    const pki = await accountOf('pki');
    const rights = `SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls
      FROM pg_roles WHERE rolname = current_user`;
    expect(await askPostgres(pki, 'pki', rights)).toBe('f');
    for (const database of ['sys', 'workspace', 'auth', 'postgres', 'template1'])
      expect(await askPostgres(pki, database, 'SELECT 1')).toContain(
        `permission denied for database "${database}"`,
      );
    expect(await askPostgres(pki, 'pki', "COPY head TO PROGRAM 'cat'")).toMatch(
      /must be superuser|permission denied/,
    );
    expect(await askPostgres(pki, 'pki', 'CREATE ROLE other')).toContain('permission denied');
  });

  test('as the owner, has what the superuser once made in its database', async () => {
    const workspace = await accountOf('workspace');
    const sql = `INSERT INTO kept (is_kept) VALUES (true); ALTER TABLE kept ADD COLUMN later TEXT;
      SELECT count(*) FROM kept`;
    expect(await askPostgres(workspace, 'workspace', sql)).toBe('2');
    const foreign = `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace
      AND relowner <> 'workspace'::regrole`;
    expect(await askPostgres(workspace, 'workspace', foreign)).toBe('0');
  });

  test('is refused by Redis and NATS without a password or a key', async () => {
    const answer = await compose('exec', '-T', 'redis', 'redis-cli', '-h', 'redis', 'KEYS', '*');
    expect(answer).toMatch(/^NOAUTH/);
    const login = `
      const socket = require('node:net').connect(4222, 'nats');
      socket.on('connect', () => socket.write('CONNECT {"verbose":true}\\r\\nPING\\r\\n'));
      socket.on('data', (data) => process.stdout.write(data)).on('close', () => process.exit(0));`;
    expect(await compose('exec', '-T', 'pki', NODE, '-e', login)).toContain(
      "-ERR 'Authorization Violation'",
    );
  });
});
