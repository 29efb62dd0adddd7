import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const SAMPLE = fileURLToPath(new URL('testdata/stoppable-process.ts', import.meta.url));

/** Starts the sample, signals it once it is ready, and returns how it ended. */
const runSample = async (behaviour: string) => {
  const child = spawn(process.execPath, [SAMPLE, behaviour]);
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
