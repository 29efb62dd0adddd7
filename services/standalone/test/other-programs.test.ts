/** The variables of the command line do not stop a server that is started from the same shell. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseConfig } from '@keelson/config';
import { expect, test } from 'vitest';
import { standaloneConfig } from '../src/config.ts';

const CLI = join(import.meta.dirname, '../../cli/src');
/** Variables that the command line shares with the server, where their values are checked. */
const SETTINGS =
  /^KEELSON_(OBJECT_STORAGE_|DATA_DIR|DATABASE_(URL|AUTHORITY_FILE)|RUNNER|UNSEAL_KEY_FILE)/;

const namesIn = (folder: string): ReadonlySet<string> =>
  new Set(
    globSync(join(folder, '**/*.ts'), { exclude: (path) => path.endsWith('.test.ts') }).flatMap(
      (path) => readFileSync(path, 'utf8').match(/\bKEELSON_[A-Z_]+/g) ?? [],
    ),
  );

test('the command line reads no variable that stops a server', () => {
  const names = [...namesIn(CLI)].filter((name) => !SETTINGS.test(name));
  expect(names).toContain('KEELSON_ADDR');
  const environment = Object.fromEntries(names.map((name) => [name, 'x']));
  expect(() => parseConfig(standaloneConfig, environment)).not.toThrow();
});
