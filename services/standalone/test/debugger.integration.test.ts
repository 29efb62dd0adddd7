/**
 * The memory of a running control plane stays its own: no debugger, no core. Forms that cannot run here are looked at
 * in `deploy/test/start-forms.test.ts`.
 */
import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { startKeelson, temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';

const REPOSITORY = join(import.meta.dirname, '../../..');
const { scripts } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8')) as {
  readonly scripts: { readonly start: string };
};
const COMMAND_LINE = join(REPOSITORY, 'services/cli/src/keelson.js');
/** Where the machine permits cores, the shell that starts the command does. */
const PERMIT_CORES = 'ulimit -S -c "$(ulimit -H -c)"';

const childrenOf = async (pid: number): Promise<readonly number[]> => {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
};

test.for([
  ['npm start', scripts.start],
  ['keelson start', `exec '${process.execPath}' '${COMMAND_LINE}' start`],
] as const)('"%s" opens no debugger on SIGUSR1, and dumps no core', async ([, command]) => {
  await using folder = await temporaryDirectory();
  const keelson = await startKeelson({
    dataFolder: folder.path,
    folder: REPOSITORY,
    command: ['sh', '-c', `${PERMIT_CORES}; ${command}`],
    env: {
      // As npm does for a script.
      PATH: [join(REPOSITORY, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
    },
  });
  await using started = new AsyncDisposableStack();
  started.defer(async () => void (await keelson.stop('SIGKILL')));
  const children = await childrenOf(keelson.pid);
  const [server = keelson.pid] = children;
  const limits = await readFile(`/proc/${server}/limits`, 'utf8');
  expect(limits).toMatch(/^Max core file size +0 +0 /m);
  for (const pid of [keelson.pid, ...children]) process.kill(pid, 'SIGUSR1');
  expect((await fetch(`${keelson.http}/healthz`)).status).toBe(200);
  expect(await keelson.stop()).toBe(0);
  expect(keelson.output()).toContain('Ctrl-C stops');
  expect(keelson.output()).not.toContain('Debugger');
});
