import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { connect } from 'node:net';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { findBinary } from './find-binary.ts';
import { startNats } from './nats.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Sends `line` and returns the first bytes of the answer. */
const ask = async (port: number, line: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1');
  socket.write(line);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString();
};

/** Whether anything comes back, such as the error that HTTP and Redis give for this text. */
const answers = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1');
  const result = Promise.withResolvers<boolean>();
  socket
    .on('data', () => result.resolve(true))
    .on('error', () => undefined)
    .on('close', () => result.resolve(false));
  socket.write('PING\r\n\r\n');
  const isAnswered = await result.promise;
  socket.destroy();
  return isAnswered;
};

const refused = (port: number) =>
  expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toMatchObject({
    code: 'ECONNREFUSED',
  });

describe('redis', () => {
  test('answers when it is started, and is empty after a kill', async () => {
    await using redis = await startRedis();
    expect(await ask(redis.port, 'SET a 1\r\n')).toBe('+OK\r\n');
    await redis.process.kill();
    await refused(redis.port);
    await redis.process.start();
    expect(await ask(redis.port, 'GET a\r\n')).toBe('$-1\r\n');
  });

  test('keeps what it acknowledged when it is durable', async () => {
    await using redis = await startRedis({ durable: true });
    await ask(redis.port, 'SET a 1\r\n');
    await redis.process.kill();
    await redis.process.start();
    expect(await ask(redis.port, 'GET a\r\n')).toBe('$1\r\n1\r\n');
  });
});

describe('nats', () => {
  test('answers when it is started and again after a restart', async () => {
    await using nats = await startNats({ jetstream: true });
    expect(await ask(nats.port, '')).toMatch(/^INFO .*"jetstream":true/);
    await nats.process.restart();
    expect(await ask(nats.port, '')).toMatch(/^INFO /);
  });
});

describe('postgres', () => {
  const query = async (connectionString: string, text: string) => {
    const client = new pg.Client({ connectionString });
    // A killed server ends the connection; the query in flight reports it.
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<{ a: number }>(text)).rows;
    } finally {
      await client.end();
    }
  };

  test('keeps its databases over kill -9', async () => {
    await using postgres = await startPostgres();
    const database = await postgres.createDatabase('one');
    await query(database, 'CREATE TABLE t (a int); INSERT INTO t VALUES (1)');
    await postgres.process.kill();
    await refused(postgres.port);
    await postgres.process.start();
    expect(await query(database, 'SELECT a FROM t')).toEqual([{ a: 1 }]);
    await postgres.process.restart();
    expect(await query(database, 'SELECT a FROM t')).toEqual([{ a: 1 }]);
  });
});

test.for([
  ['a server', './redis.ts', 'String((await module.startRedis()).port)'],
  [
    'a control plane',
    './keelson-process.ts',
    'new URL((await module.startKeelson({ dataFolder })).http).port',
  ],
] as const)(
  '%s ends with the process that started it, even if that is killed',
  async ([, file, started]) => {
    await using directory = await temporaryDirectory();
    const module = new URL(file, import.meta.url).href;
    const starter = spawn(process.execPath, [
      '--input-type=module',
      '--eval',
      `const module = await import('${module}');
     const dataFolder = '${directory.path}';
     process.stdout.write(${started});
     setInterval(() => undefined, 60_000);`,
    ]);
    const [port] = (await once(starter.stdout, 'data')) as [Buffer];
    const connection = connect(Number(port), '127.0.0.1');
    await once(connection, 'connect');
    const closed = Promise.withResolvers<void>();
    // A server that is killed too may reset the connection instead of ending it.
    connection.on('error', () => undefined).on('close', () => closed.resolve());
    connection.resume();
    starter.kill('SIGKILL');
    await closed.promise;
    // A server that still runs would have closed the idle connection, too.
    expect(await answers(Number(port))).toBe(false);
  },
);

test('a missing binary is reported with its Debian package', async () => {
  await expect(findBinary('no-such-server', 'no-such-package')).rejects.toThrow(
    'apt-get install no-such-package',
  );
});

test('a temporary directory is gone after use', async () => {
  let path = '';
  {
    await using directory = await temporaryDirectory();
    path = directory.path;
    expect((await stat(path)).isDirectory()).toBe(true);
  }
  await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
});
