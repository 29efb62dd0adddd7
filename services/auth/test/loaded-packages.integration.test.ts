/** A process that serves no login through a browser, and none with a token, does not pay for the packages of those. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const COMPOSE = join(import.meta.dirname, '../src/compose.ts');
/** Prints the package of every module that is loaded. */
const PROGRAM = `import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    console.log(/.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1] ?? url);
    return next(url, context);
  },
});
await import(process.argv[1]);`;

test('the start of the service loads no package that only a login needs', async () => {
  const program = ['--input-type=module', '--eval', PROGRAM, COMPOSE];
  const { stdout } = await promisify(execFile)(process.execPath, program);
  const loaded = new Set(stdout.split('\n'));
  expect(loaded).toContain('typebox');
  expect(loaded).not.toContain('jose');
  expect(loaded).not.toContain('ldapts');
  expect(loaded).not.toContain('oauth4webapi');
  expect(loaded).not.toContain('openid-client');
  expect(loaded).not.toContain('undici');
});
