/** The commands of docs/est.md, pasted into a shell: curl, openssl and base64 as the system has them. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { documentedCommands, startKeelson, temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';

const run = promisify(execFile);

test('the documented commands enroll a device by its token and renew by its certificate', async () => {
  await using folder = await temporaryDirectory();
  const keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_REQUEST_CLIENT_CERTIFICATES: 'true' },
  });
  try {
    const commands = documentedCommands('docs/est.md', 'Steps')
      .replaceAll('localhost:8443', new URL(keelson.https).host)
      .replaceAll('$PWD/data', keelson.dataFolder);
    const env = {
      ...process.env,
      K: keelson.http,
      ROOT: keelson.rootToken,
      TMPDIR: folder.path,
    };
    const script = `set -eo pipefail\n${commands}`;
    const { stdout } = await run('bash', ['-c', script], { env, cwd: folder.path });
    expect(stdout).toBe('device.pem: OK\nrenewed.pem: OK\n');
  } finally {
    await keelson.stop();
  }
});
