/**
 * Generates the code into a scratch folder and compares it with the committed `gen/`, so that a changed
 * .proto without its generated code fails here (`npm run check -w proto`).
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const proto = join(import.meta.dirname, '..');

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();

/** Files in the committed folder that differ from the generated ones, are missing, or are left over. */
export const staleFiles = (): readonly string[] => {
  const scratch = mkdtempSync(join(tmpdir(), 'keelson-proto-'));
  try {
    const buf = join(proto, '..', 'node_modules', '.bin', 'buf');
    execFileSync(buf, ['generate', '--output', scratch], { cwd: proto, stdio: 'inherit' });
    const fresh = join(scratch, 'gen');
    const committed = join(proto, 'gen');
    const names = new Set([...filesBelow(fresh), ...filesBelow(committed)]);
    const read = (folder: string, name: string): string | undefined =>
      filesBelow(folder).includes(name) ? readFileSync(join(folder, name), 'utf8') : undefined;
    return [...names].filter((name) => read(fresh, name) !== read(committed, name)).toSorted();
  } finally {
    rmSync(scratch, { recursive: true });
  }
};

if (import.meta.main) {
  const stale = staleFiles();
  for (const name of stale) process.stderr.write(`proto/gen/${name} is not what buf generates\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
}
