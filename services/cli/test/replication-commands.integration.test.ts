/** `keelson replication`: the life of a set, with two clusters on one NATS server. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  bareEnvironment,
  type KeelsonProcess,
  type NatsServer,
  startKeelson,
  startNats,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ended, runProgram } from './run-program.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');

let folder: TemporaryDirectory;
let nats: NatsServer;
let server: KeelsonProcess;

const keelson = (
  given: readonly string[],
  { input = '', env = {} }: { input?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> =>
  runProgram(process.execPath, [MAIN, ...given], {
    env: { ...bareEnvironment(folder.path), KEELSON_ADDR: server.http, ...env },
    input,
  });

const asRoot = (given: readonly string[]): Promise<Ended> =>
  keelson(given, { env: { KEELSON_TOKEN: server.rootToken } });

beforeAll(async () => {
  folder = await temporaryDirectory();
  nats = await startNats({ jetstream: true });
  server = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_NATS_URL: nats.url },
  });
});
afterAll(async () => {
  await server.stop();
  await nats[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

test('filters name what a performance secondary receives', async () => {
  const filter = (...given: readonly string[]): Promise<Ended> =>
    asRoot(['replication', 'filter', ...given]);
  expect(await asRoot(['replication', 'enable', 'performance'])).toMatchObject({ code: 0 });
  expect((await asRoot(['replication', 'token', 'performance', 'branch'])).code).toBe(0);
  expect((await filter('set', 'branch', 'refuse', 'pki/')).code).toBe(64);
  expect(await filter('set', 'branch', 'deny', 'pki/', 'team/')).toMatchObject({
    code: 0,
    out: 'Set the filter of branch.\n',
  });
  const shown = await filter('show', 'branch');
  expect(shown.out).toMatch(/^mode +deny$/m);
  expect(shown.out).toContain('["pki/","team/"]');
  expect((await filter('remove', 'branch')).code).toBe(0);
  expect((await filter('show', 'branch')).code).toBe(1);
  const disabled = await asRoot(['replication', 'disable', 'performance', 'primary']);
  expect(disabled.code).toBe(0);
});

test('a cluster joins, is promoted, and is followed by the former primary, which keeps its data', async () => {
  const spare = await startKeelson({
    dataFolder: join(folder.path, 'spare'),
    env: { KEELSON_NATS_URL: nats.url },
  });
  try {
    const shares = (
      JSON.parse(readFileSync(join(server.dataFolder, 'first-run.json'), 'utf8')) as {
        readonly unseal_keys: readonly string[];
      }
    ).unseal_keys.join('\n');
    const onSpare = (given: readonly string[], input = ''): Promise<Ended> =>
      keelson(['--address', spare.http, 'replication', ...given], {
        input,
        env: { KEELSON_TOKEN: spare.rootToken },
      });
    const statusOf = async (ask: Promise<Ended>) =>
      JSON.parse((await ask).out).dr as Readonly<Record<string, unknown>>;
    const untilFollowed = async (ask: () => Promise<Ended>): Promise<void> => {
      let state: unknown;
      while (state !== 'stream-wals')
        ({ state } = await statusOf(ask()).catch(() => ({ state: '' })));
    };
    /** A role that just changed refuses requests for a moment. */
    const untilDone = async (ask: () => Promise<Ended>): Promise<Ended> => {
      let ended = await ask();
      while (ended.code !== 0) ended = await ask();
      return ended;
    };
    await asRoot(['replication', 'enable', 'dr', '--cluster-address', nats.url]);
    const token = await asRoot(['replication', 'token', 'dr', 'spare']);
    const wrong = await onSpare(['join', 'dr'], 'no token');
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('secondary/enable')]);
    const joined = await onSpare(['join', 'dr', '--api-address', server.http], token.out);
    expect([joined.code, joined.out]).toEqual([0, expect.stringContaining('Follows the dr')]);
    await untilFollowed(() => onSpare(['status', '--json']));
    const few = await onSpare(['operation-token'], shares.split('\n')[0]);
    expect([few.code, few.err]).toEqual([1, expect.stringContaining('shares were given')]);
    const operation = (await onSpare(['operation-token'], shares)).out;
    const plan = await onSpare(['promote', 'dr', '--dry-run'], operation);
    expect([plan.code, plan.out]).toEqual([0, expect.stringMatching(/missing_entries +\d/)]);
    expect((await asRoot(['replication', 'demote', 'dr'])).code).toBe(0);
    const promoted = await untilDone(() => onSpare(['promote', 'dr'], operation));
    expect(promoted.out).toContain('Promoted.');
    expect(await statusOf(onSpare(['status', '--json']))).toMatchObject({ mode: 'primary' });

    const key = await asRoot(['replication', 'public-key', 'dr']);
    expect(key).toEqual({ code: 0, out: expect.any(String), err: '' });
    const made = await keelson(
      [
        '--address',
        spare.http,
        'replication',
        'token',
        'dr',
        'back',
        '--public-key',
        key.out.trim(),
      ],
      { env: { KEELSON_TOKEN: server.rootToken } },
    );
    expect(made).toEqual({ code: 0, out: expect.any(String), err: '' });
    const follow = (input: string): Promise<Ended> =>
      keelson(['replication', 'follow', 'dr'], { input });
    const lone = await follow(made.out);
    expect([lone.code, lone.err]).toEqual([64, expect.stringContaining('two lines')]);
    const own = (await keelson(['replication', 'operation-token'], { input: shares })).out;
    const followed = await follow(`${made.out}\n${own}`);
    expect(followed).toMatchObject({ code: 0, out: expect.stringContaining('without clearing') });
    await untilFollowed(() => keelson(['replication', 'status', '--json']));
  } finally {
    await spare.stop();
  }
}, 180_000);
