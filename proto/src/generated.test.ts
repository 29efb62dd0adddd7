import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { staleFiles } from './check-generated.ts';

const gen = join(import.meta.dirname, '..', 'gen');
const files = globSync('**/*.ts', { cwd: gen });

describe('generated code', () => {
  test('is what the protos generate', () => {
    expect(staleFiles()).toEqual([]);
  });

  test.for(files)('%s can be stripped of its types', (file) => {
    expect(() => stripTypeScriptTypes(readFileSync(join(gen, file), 'utf8'))).not.toThrow();
  });

  test('is imported by Node as it is', () => {
    const imports = files.map((file) => `await import(${JSON.stringify(join(gen, file))});`);
    const run = (): string =>
      execFileSync(process.execPath, ['--input-type=module', '--eval', imports.join('\n')], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    expect(run).not.toThrow();
  });
});
