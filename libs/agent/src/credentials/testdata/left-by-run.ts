/** Ends credentials, or revokes those of a killed process, after code of the run, as the user that a test gives this process. */
import { execFileSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import type { Phase } from '../../control-plane.ts';
import { obtainCredentials, revokeLeftTokens } from '../phase-credentials.ts';

const [, , root = '', command = '', how = ''] = process.argv;
const tokens = [{ purpose: 'KUBERNETES', tag: '', token: 'a.b.c' }];
const { end } = await obtainCredentials({
  phase: { attributes: { phase: 'plan', 'workload-identity-tokens': tokens } } as unknown as Phase,
  root,
  workingFolder: root,
  variables: {},
  environment: {},
  hide: () => undefined,
  say: () => undefined,
});
execFileSync('/bin/sh', ['-ec', command], { cwd: root });
const outcome = how === 'end' ? await end() : await revokeLeftTokens(root, {});
process.stdout.write(JSON.stringify({ outcome, left: await readdir(root) }));
