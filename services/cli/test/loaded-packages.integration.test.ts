/** A command starts at once: it loads no part of the server that it does not use. */
import { join } from 'node:path';
import { bareEnvironment } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { runProgram } from './run-program.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');
/** Prints the package of every module that is loaded. */
const HOOKS = `import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    console.log(/.*(?:node_modules|libs|services)\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1] ?? url);
    return next(url, context);
  },
});`;

test('the start of a command loads the packages of the command line alone', async () => {
  const hooks = `data:text/javascript,${encodeURIComponent(HOOKS)}`;
  const { code, out } = await runProgram(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--import', hooks, MAIN, 'status'],
    { env: { ...bareEnvironment('/nonexistent'), KEELSON_ADDR: 'http://127.0.0.1:1' } },
  );
  const packages = new Set(out.split('\n').filter((line) => !/^(node:.*|)$/.test(line)));
  expect(code).toBe(1);
  expect([...packages].sort()).toEqual([
    '@bomb.sh/tab',
    'cli',
    'commander',
    // Names of backups.
    'objects',
    'p-limit',
    // Durable files and the version.
    'runtime',
    'yocto-queue',
  ]);
});
