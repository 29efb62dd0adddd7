/** The tutorial with a push, pasted into a shell, with a real Gitea. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  documentedCommands,
  publicAddress,
  startKeelson,
  temporaryDirectory,
} from '@keelson/testkit';
import { expect, test } from 'vitest';
import { startGitea } from './gitea-server.ts';

test('the push of the evening is applied by the built-in runner, and shown on the commit', async () => {
  await using gitea = await startGitea();
  await using folder = await temporaryDirectory();
  const keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: {
      KEELSON_RUNNER: 'true',
      KEELSON_OUTBOUND_RANGES: '127.0.0.1',
      ...(await publicAddress()),
    },
  });
  try {
    await fetch(`${keelson.http}/api/v2/organizations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${keelson.apiToken}`,
        'content-type': 'application/vnd.api+json',
      },
      body: JSON.stringify({
        data: {
          type: 'organizations',
          attributes: { name: 'evening', email: 'ops@example.com' },
        },
      }),
    });
    const commands = documentedCommands('docs/tutorials/push.md', 'The session')
      .replace('http://127.0.0.1:3000', gitea.url)
      .replace('GIT_TOKEN=…', `GIT_TOKEN=${gitea.token}`);
    const env = {
      ...process.env,
      K: keelson.http,
      API: keelson.apiToken,
      TMPDIR: folder.path,
      HOME: folder.path,
    };
    const options = { env, cwd: folder.path, timeout: 240_000 };
    const { stdout } = await promisify(execFile)('bash', ['-c', commands], options);
    expect(stdout.split('\n')).toEqual(['hello', 'hello again', '']);
    await expect
      .poll(
        async () => {
          const path = '/repos/ada/app/commits/main/status';
          return (await gitea.api<{ state: string }>('GET', path)).state;
        },
        { timeout: 120_000, interval: 250 },
      )
      .toBe('success');
  } finally {
    await keelson.stop();
  }
});
