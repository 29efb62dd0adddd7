/** `terraform login` with the browser of its user, as the tool documents the protocol. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, launchChromium, type Page } from '@keelson/testkit/chromium';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { AUTHORIZATION, approveLogin, openLogin } from './command-login.ts';
import { type Installation, install, type RunningCommand } from './terraform-cli.ts';

/** Where the tool stores the token, below its home. */
const KEPT = ['.terraform.d', 'credentials.tfrc.json'];

describe('terraform login', () => {
  let installation: Installation;
  let browser: Browser;
  beforeAll(async () => {
    installation = await install();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await installation[Symbol.asyncDispose]();
  });

  const makeHome = async (name: string): Promise<string> => {
    const home = await installation.folder(name);
    // The tool does not make it.
    await mkdir(join(home, '.terraform.d'));
    return home;
  };
  const login = (home: string): RunningCommand => {
    const command = installation.asStranger(home, ['yes'], 'login', installation.host);
    // While it waits for a code, it takes no other signal.
    onTestFinished(() => void command.child.kill('SIGKILL'));
    return command;
  };
  const open = async (command: RunningCommand): Promise<Page> =>
    openLogin(browser, await command.matched(AUTHORIZATION), installation.token);

  test('opens the console, where the user signs in and approves, and stores a token that logout removes', async () => {
    const { host, token } = installation;
    const home = await makeHome('home');
    const command = login(home);
    const page = await open(command);
    await page.getByText('asks for an API token of your account admin').waitFor();
    await approveLogin(page);
    const { code, output } = await command.outcome;
    expect(output).toContain('Terraform has obtained and saved an API token.');
    expect(code).toBe(0);

    const kept = async () =>
      (JSON.parse(await readFile(join(home, ...KEPT), 'utf8')) as KeptCredentials).credentials[host]
        ?.token;
    const own = await kept();
    expect(own).toMatch(/\.atlasv1\./);
    expect(own).not.toBe(token);
    expect(output).not.toContain(own);
    const { data } = await installation.call('GET', '/account/details');
    const { list } = await installation.call('GET', `/users/${data.id}/authentication-tokens`);
    expect(list.map(({ attributes }) => attributes['description'])).toContainEqual(
      expect.stringMatching(/^terraform login \(\d+\.\d+\.\d+\), \d{4}-\d\d-\d\d \d\d:\d\d UTC$/),
    );
    const logout = await installation.asStranger(home, [], 'logout', host).outcome;
    expect([logout.code, await kept()]).toEqual([0, undefined]);
  });

  test('stores nothing when the user refuses, and says so', async () => {
    const home = await makeHome('another-home');
    const command = login(home);
    const page = await open(command);
    await page.getByRole('button', { name: 'Refuse' }).click();
    const { code, output } = await command.outcome;
    expect(code).toBe(1);
    expect(output.replaceAll(/\s+/g, ' ')).toContain('the user has refused');
    await expect(readFile(join(home, ...KEPT))).rejects.toThrow('ENOENT');
  });
});

interface KeptCredentials {
  readonly credentials: Readonly<Record<string, { readonly token: string }>>;
}
