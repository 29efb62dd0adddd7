/** The demo as `make demo-replication` runs it, once from beginning to end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

test('the demo runs to its end and leaves nothing behind', async () => {
  await using folder = await temporaryDirectory();
  const demo = spawn(process.execPath, [MAIN], {
    env: { ...process.env, TMPDIR: folder.path },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  demo.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = (await once(demo, 'close')) as [number | null];
  expect({ output, code }).toEqual({
    output: expect.stringMatching(
      /what everybody reads is equal[\s\S]*Seen from beginning to end\.\n$/,
    ),
    code: 0,
  });
  expect(output).not.toContain('✘');
  // The reader sees the commands of the operator, and no secret that one of them reads.
  expect(output).toContain('spare$ keelson replication promote dr --force\n');
  expect(output).not.toMatch(/hvs\.|hvr\./);
  // The last table is sampled at one moment, right after the roots were found equal.
  const table = output.slice(output.lastIndexOf('Merkle root\n'));
  const roots = [
    ...table.matchAll(/ (performance|dr) (?:primary|secondary) .* ([\da-f]{12})\s*$/gm),
  ];
  expect(roots).toHaveLength(4);
  const rootsOf = (kind: string) => roots.filter(([, of]) => of === kind).map(([, , root]) => root);
  for (const kind of ['performance', 'dr']) expect(new Set(rootsOf(kind)).size).toBe(1);
  expect(await readdir(folder.path)).toEqual([]);
});
