import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findBinary, temporaryDirectory } from '@keelson/testkit';
import { describe, expect, test } from 'vitest';

const SAMPLE = fileURLToPath(new URL('testdata/stoppable-process.ts', import.meta.url));

/** Starts the sample, signals it once it is ready, and returns how it ended. */
const runSample = async (behaviour: string, ...others: readonly string[]) => {
  const child = spawn(process.execPath, [SAMPLE, behaviour, ...others]);
  const output = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    output.out += chunk.toString();
    if (chunk.includes('ready')) child.kill('SIGTERM');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output.err += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
};

describe('a process', () => {
  test('stops cleanly on SIGTERM', async () => {
    const { code, out } = await runSample('normal');
    expect(code).toBe(0);
    expect(out).toContain('"clean":true');
  });

  test('explains in one line why it cannot start', async () => {
    expect(await runSample('refuse')).toMatchObject({
      code: 1,
      err: 'sample cannot start: KEELSON_X must be set\n',
    });
  });

  test('ends with failure when stopping takes longer than allowed', async () => {
    expect((await runSample('hang')).code).toBe(1);
  });
});

describe('an error outside of a request', () => {
  test.for([
    ['throw', 'uncaughtException', 'thrown by nobody'],
    ['reject', 'unhandledRejection', 'nobody awaits'],
  ] as const)('ends the process by "%s", and the log names the capability', async (given) => {
    const [behaviour, origin, message] = given;
    const { code, out } = await runSample(behaviour);
    expect(code).toBe(1);
    const fatal = out.split('\n').find((line) => line.includes('"fatal"'));
    expect(JSON.parse(fatal ?? '')).toMatchObject({
      level: 'fatal',
      capability: 'runtime/testdata',
      origin,
      err: { message },
    });
  });

  test('is counted by the processes that are started after it', async () => {
    await using folder = await temporaryDirectory();
    const file = join(folder.path, 'exceptions.json');
    const { out } = await runSample('throw', file);
    expect(out.split('\n')[0]).toBe('[]');
    await runSample('reject', file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const counted = '[["runtime/testdata",2]]\n';
    expect((await runSample('normal', file)).out).toContain(counted);

    // A damaged file costs the count, and not the start; a link is not followed.
    await writeFile(file, '{"pki/acme":');
    expect((await runSample('normal', file)).code).toBe(0);
    const link = join(folder.path, 'link.json');
    await symlink(file, link);
    const ended = await runSample('throw', link);
    expect(ended.out).toContain('the uncaught exception cannot be counted');
    expect([ended.code, await readFile(file, 'utf8')]).toEqual([1, '{"pki/acme":']);
  });

  test('in a guarded handler costs a stream, and not the process', async () => {
    const { code, out } = await runSample('guarded');
    expect(code).toBe(0);
    expect(
      JSON.parse(out.split('\n').find((line) => line.includes('a handler failed')) ?? ''),
    ).toMatchObject({
      level: 'error',
      capability: 'sample/stream',
    });
    expect(out).toContain('"clean":true');
  });
});

const python = await findBinary('python3', 'python3');

/**
 * The end of systemd: prints what arrives at the socket, a line each, and confirms it as systemd does, by closing the
 * descriptor that comes with BARRIER=1. Node opens no such socket.
 */
const SYSTEMD = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("listening", flush=True)
while True:
    data, fds, _, _ = socket.recv_fds(s, 4096, 4)
    for fd in fds: os.close(fd)
    if data != b"BARRIER=1": print(data.decode().strip(), flush=True)
`;

test('tells systemd when it is ready, reloads and stops', async () => {
  await using folder = await temporaryDirectory();
  const socket = join(folder.path, 'notify');
  const systemd = spawn(python, ['-c', SYSTEMD, socket]);
  await using started = new AsyncDisposableStack();
  started.defer(() => void systemd.kill());
  const lines = createInterface({ input: systemd.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => (await lines.next()).value ?? 'nothing';
  expect(await next()).toBe('listening');
  const child = spawn(process.execPath, [SAMPLE, 'normal'], {
    env: { ...process.env, NOTIFY_SOCKET: socket },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  expect(await next()).toBe('READY=1');
  child.kill('SIGHUP');
  expect([await next(), await next()]).toEqual(['RELOADING=1', 'READY=1']);
  child.kill('SIGTERM');
  expect(await next()).toBe('STOPPING=1');
  expect(await ended).toEqual([0, null]);
});
