/**
 * `npm run examples [service…]`: runs the tests of the services, keeps their answers, and writes the best of each
 * operation to `services/SERVICE/src/answer-examples.ts`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bestExamples } from './recorded-examples.ts';

const REPOSITORY = join(import.meta.dirname, '../../../..');

const run = (command: string, args: readonly string[], env: Readonly<Record<string, string>>) =>
  spawnSync(command, args, { cwd: REPOSITORY, stdio: 'inherit', env: { ...process.env, ...env } });

const named = process.argv.slice(2);
for (const service of named.length > 0 ? named : ['sys', 'pki', 'workspace']) {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-examples-'));
  const layers = ['unit', 'integration', 'contract'].flatMap((layer) => ['--project', layer]);
  run('npx', ['vitest', 'run', ...layers, `services/${service}/`], { RECORDED_EXAMPLES: folder });
  const api = join(folder, service);
  if (existsSync(api)) {
    const file = `services/${service}/src/answer-examples.ts`;
    writeFileSync(
      join(REPOSITORY, file),
      `/** Examples of answers, recorded from the tests by \`npm run examples\`. */\n` +
        `import type { AnswerExamples } from '@keelson/edge';\n\n` +
        `export const ANSWER_EXAMPLES: AnswerExamples = ${JSON.stringify(bestExamples(api))};\n`,
    );
    run('npx', ['biome', 'format', '--write', file], {});
  }
  rmSync(folder, { recursive: true });
}
