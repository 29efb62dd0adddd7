/** Stopping a tool: real processes that handle or ignore signals. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBinary, Interruption, runTool } from './terraform.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a shell script; resolves when it has printed "ready". */
const begin = async (script: string, interruption: Interruption) => {
  const place = {
    binary: '/bin/sh',
    folder,
    environment: process.env,
    pidFile: join(folder, 'pid'),
  };
  const ready = Promise.withResolvers<void>();
  const ended = runTool(place, ['-c', script], interruption, (text) => {
    if (text.includes('ready')) ready.resolve();
  });
  ended.then(() => ready.reject(new Error('it ended')), ready.reject);
  await ready.promise;
  return { ended };
};

const LISTENING = 'trap "echo stopped; exit 7" INT; echo ready; while :; do sleep 0.05; done';
const DEAF = 'trap "" INT; echo ready; while :; do sleep 0.05; done';

describe('a tool', { timeout: 60_000 }, () => {
  test('that is canceled finishes its current operation', async () => {
    const interruption = new Interruption();
    const { ended } = await begin(LISTENING, interruption);
    interruption.cancel();
    expect(await ended).toMatchObject({ code: 7, stdout: 'ready\nstopped\n' });
    expect(interruption.reason).toBe('canceled');
  });

  test('that ignores the signal is killed after its grace period', async () => {
    const interruption = new Interruption();
    const { ended } = await begin(DEAF, interruption);
    interruption.abandon(50);
    expect((await ended).code).toBeNull();
  });

  test('that was already canceled is killed at once', async () => {
    const interruption = new Interruption();
    const { ended } = await begin(DEAF, interruption);
    interruption.cancel();
    interruption.abandon(3_600_000);
    expect((await ended).code).toBeNull();
  });

  test('that starts while the phase is being stopped is stopped too', async () => {
    const interruption = new Interruption();
    interruption.cancel();
    const place = {
      binary: '/bin/sh',
      folder,
      environment: process.env,
      pidFile: join(folder, 'pid'),
    };
    const { code } = await runTool(place, ['-c', 'exec sleep 3600'], interruption);
    expect(code).toBeNull();
    expect(await readFile(join(folder, 'pid'), 'utf8')).toMatch(/^\d+$/);
  });

  test('that is canceled takes the processes with it that it started', async () => {
    const interruption = new Interruption();
    const child = 'sleep 3600 >/dev/null 2>&1 & echo $! > child;';
    const { ended } = await begin(`${child} ${LISTENING}`, interruption);
    const pid = Number(await readFile(join(folder, 'child'), 'utf8'));
    interruption.cancel();
    await ended;
    const isGone = () => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    };
    await expect.poll(isGone, { timeout: 30_000 }).toBe(true);
  });

  test('is logged completely, even if a character arrives in parts', async () => {
    const script = "echo ready; printf '\\360\\235'; sleep 0.2; printf '\\204\\236'";
    const { ended } = await begin(script, new Interruption());
    expect((await ended).stdout).toBe('ready\n𝄞');
  });

  test('that does not exist causes an error', async () => {
    const place = { binary: '/absent', folder, environment: {}, pidFile: join(folder, 'pid') };
    await expect(runTool(place, [], new Interruption())).rejects.toThrow('ENOENT');
  });
});

test('is taken from a local binary of its version if there is one', async () => {
  const versionsFolder = join(folder, 'versions');
  const own = join(versionsFolder, '1.5.7', 'terraform');
  await mkdir(join(versionsFolder, '1.5.7'), { recursive: true });
  await writeFile(own, '');
  const find = (version: string | null) =>
    findBinary({ terraform: 'other', versionsFolder }, version);
  expect(await find('1.5.7')).toBe(own);
  expect(await find('1.5.8')).toBe('other');
  expect(await find(null)).toBe('other');
  expect(await findBinary({ terraform: 'other', versionsFolder: undefined }, '1.5.7')).toBe(
    'other',
  );
});
