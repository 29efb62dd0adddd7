/** The log of a phase has no part of a secret, whatever comes between its parts. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stubService } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ControlPlane, Phase } from './control-plane.ts';
import { LogStream } from './log-stream.ts';
import { Interruption, runTool } from './terraform.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const SENTENCE = '\nThe token of https://vault.example could not be renewed.\n';

/** The log of a tool, with a sentence of the agent after its first output. */
const logOf = async (script: string): Promise<string> => {
  let sent = '';
  const controlPlane = stubService<ControlPlane>({
    writeLog: (_, text) => {
      sent += text;
      return Promise.resolve();
    },
  });
  const log = new LogStream(controlPlane, {} as Phase);
  log.hide(['hvs.secret']);
  let isFirst = true;
  const next = join(folder, 'next');
  await rm(next, { force: true });
  const place = {
    binary: '/bin/sh',
    folder,
    environment: process.env,
    pidFile: join(folder, 'pid'),
  };
  await runTool(place, ['-c', script], new Interruption(), (text) => {
    log.write(text);
    if (!isFirst) return;
    isFirst = false;
    log.write(SENTENCE);
    void writeFile(next, '');
  });
  await log.end();
  return sent;
};

const UNTIL_NEXT = 'until [ -e next ]; do sleep 0.05; done';

test('a sentence of the agent comes between', async () => {
  expect(await logOf(`printf 'its token is hvs.sec'; ${UNTIL_NEXT}; echo ret, printed`)).toBe(
    `its token is ${SENTENCE}(sensitive value), printed\n`,
  );
});

test('the other stream of the tool comes between', async () => {
  const warning = 'echo a warning >&2';
  const pause = 'sleep 0.2';
  const script = `echo begun; ${UNTIL_NEXT}; printf hvs.sec; ${pause}; ${warning}; ${pause}; echo ret`;
  expect(await logOf(script)).toBe(`begun\n${SENTENCE}a warning\n(sensitive value)\n`);
});

test('the last output of a tool need not end with a line', async () => {
  expect(await logOf('printf "hvs.secret begun"; printf hvs.secret >&2')).toContain(
    '(sensitive value)',
  );
});
