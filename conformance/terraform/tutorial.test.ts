/** The tutorial with terraform, pasted into a shell. */
import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { documentedCommands, startKeelson, temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');

test('the evening with Terraform applies on the built-in runner, gets a certificate without a secret, is refused while locked, and lets an agent destroy', async () => {
  await using folder = await temporaryDirectory();
  // The folder for temporary files, which the users of runs pass through.
  await chmod(folder.path, 0o711);
  const keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_RUNNER: 'true' },
  });
  try {
    const commands = documentedCommands('docs/tutorials/terraform.md', 'The session')
      .replaceAll('localhost:8443', new URL(keelson.https).host)
      .replaceAll('$PWD/data', keelson.dataFolder);
    const env = {
      ...process.env,
      K: keelson.http,
      ROOT: keelson.rootToken,
      API: keelson.apiToken,
      TMPDIR: folder.path,
      HOME: folder.path,
      TF_CLI_ARGS: '-no-color',
      CHECKPOINT_DISABLE: '1',
    };
    // Job control, as in a shell that somebody types into; nothing it starts outlives it.
    const script = `exec 2>&1; trap 'kill $(jobs -p) 2> /dev/null' EXIT\n${commands}`;
    const options = { env, cwd: ROOT, timeout: 240_000 };
    const { stdout } = await run('bash', ['-m', '-c', script], options);
    const lines = stdout.split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringContaining('1 added'),
        'hello',
        expect.stringMatching(/\(local-exec\): "serial_number":"[0-9a-f:]+"/),
        expect.stringContaining('Error acquiring the state lock'),
        expect.stringContaining('2 destroyed'),
        '204',
      ]),
    );
    // By the runner, and by the agent; what is refused in between would run here.
    expect(lines.filter((line) => line.includes('Running apply in'))).toHaveLength(3);
  } finally {
    await keelson.stop();
  }
});
