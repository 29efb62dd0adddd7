/**
 * The end of credentials whose files code of the run has replaced: it has the same user as the agent, and nothing that
 * it leaves keeps the agent from the steps that follow.
 */
import { execFile } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const NOBODY = { uid: 65_534, gid: 65_534 };
const PROGRAM = fileURLToPath(new URL('./testdata/left-by-run.ts', import.meta.url));

const CLOSED = (folder: string): string => `mkdir -p ${folder}/x/y; chmod 000 ${folder}/x`;

test.for([
  ['a folder that is closed', CLOSED('credentials'), 'end'],
  ['a closed folder of credentials', 'chmod 000 credentials', 'end'],
  ['a folder in place of the file of sessions', CLOSED('sessions.json'), 'end'],
  ['it at the start after its process was killed', CLOSED('sessions.json'), 'revoke'],
] as const)('removes %s', async ([, command, how]) => {
  // The folder for temporary files may be closed to other users.
  const root = await mkdtemp('/tmp/keelson-credentials-');
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await chown(root, NOBODY.uid, NOBODY.gid);
  const args = [PROGRAM, root, command, how];
  const { stdout } = await promisify(execFile)(process.execPath, args, { ...NOBODY, cwd: '/' });
  const expected =
    how === 'end' ? { outcome: [], left: [] } : { outcome: 0, left: ['credentials'] };
  expect(JSON.parse(stdout)).toEqual(expected);
});
