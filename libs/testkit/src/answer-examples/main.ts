/**
 * `npm run examples [service…]`: runs the tests of the services, keeps their answers, and writes the best of each
 * operation to `services/SERVICE/src/answer-examples.json`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bestExamples } from './recorded-examples.ts';

const REPOSITORY = join(import.meta.dirname, '../../../..');

const run = (command: string, args: readonly string[], env: Readonly<Record<string, string>>) =>
  spawnSync(command, args, { cwd: REPOSITORY, stdio: 'inherit', env: { ...process.env, ...env } });

/** One example on each line, so that a change shows which operations answer differently. */
const toLines = (examples: ReturnType<typeof bestExamples>): string => {
  const lines = Object.entries(examples).map(
    ([operation, example]) => `  ${JSON.stringify(operation)}: ${JSON.stringify(example)}`,
  );
  return `{\n${lines.join(',\n')}\n}\n`;
};

const named = process.argv.slice(2);
for (const service of named.length > 0 ? named : ['sys', 'pki', 'workspace', 'auth']) {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-examples-'));
  const layers = ['unit', 'integration', 'contract'].flatMap((layer) => ['--project', layer]);
  run('npx', ['vitest', 'run', ...layers, `services/${service}/`], { RECORDED_EXAMPLES: folder });
  const api = join(folder, service);
  if (existsSync(api)) {
    writeFileSync(
      join(REPOSITORY, `services/${service}/src/answer-examples.json`),
      toLines(bestExamples(api)),
    );
  }
  rmSync(folder, { recursive: true });
}
