/** The tutorial with terraform, pasted into a shell. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { documentedCommands, startKeelson, temporaryDirectory } from '@keelson/testkit';
import { launchChromium } from '@keelson/testkit/chromium';
import { expect, test } from 'vitest';
import { AUTHORIZATION, approveLogin, openLogin } from './command-login.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Runs a script whose terraform logs in, with the browser of somebody who approves. @returns what it printed */
const runApproving = async (
  script: string,
  env: NodeJS.ProcessEnv,
  token: string,
): Promise<string> => {
  const browser = await launchChromium();
  try {
    // Job control, as in a shell that somebody types into.
    const shell = spawn('bash', ['-m', '-c', script], {
      env,
      cwd: ROOT,
      timeout: 240_000,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(shell, 'close');
    let printed = '';
    let approved: Promise<void> | undefined;
    for await (const chunk of shell.stdout.setEncoding('utf8')) {
      printed += String(chunk);
      const [address] = AUTHORIZATION.exec(printed) ?? [];
      if (address === undefined || approved !== undefined) continue;
      approved = openLogin(browser, address, token).then(approveLogin);
      // The tool would wait for the approval.
      approved.catch(() => shell.kill());
    }
    const [code] = (await ended) as [number | null];
    await approved;
    if (code !== 0) throw new Error(`the session ended with ${code}\n${printed}`);
    return printed;
  } finally {
    await browser.close();
  }
};

test('the evening with Terraform logs in by a browser, applies on the built-in runner, gets a certificate without a secret, is refused while locked, and lets an agent destroy', async () => {
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
    // Nothing that it starts outlives it.
    const script = `exec 2>&1; trap 'kill $(jobs -p) 2> /dev/null' EXIT\n${commands}`;
    const lines = (await runApproving(script, env, keelson.apiToken)).split('\n');
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
