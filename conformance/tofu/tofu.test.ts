/**
 * OpenTofu, unmodified: signing in through the browser, its own work with states and locks, and runs that the built-in
 * runner executes with it.
 *
 * | command                                   | seen                                                            |
 * | ----------------------------------------- | --------------------------------------------------------------- |
 * | `tofu login`                              | the console asks; the token is stored, named, and works         |
 * | `tofu login`, refused                     | nothing is stored                                               |
 * | `tofu logout`                             | the stored token is removed                                     |
 * | `init`, `plan`, `apply`, `output`, `show` | on a workspace of execution mode `local`, with a locked state   |
 * | `state pull`, `state mv`, `destroy`       | the state is as after the same commands of terraform            |
 * | `apply` while a person holds the lock     | refused, and nothing changes                                    |
 * | `plan`, `apply` of mode `remote`          | executed by the built-in runner with tofu, with its log         |
 */
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findFreePort } from '@keelson/testkit';
import { type Browser, launchChromium } from '@keelson/testkit/chromium';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AUTHORIZATION, approveLogin, newStranger, openLogin } from '../terraform/command-login.ts';
import {
  cloudBlock,
  configuration,
  type Installation,
  install,
} from '../terraform/terraform-cli.ts';
import { buildTofu } from './tofu-program.ts';

const SLOW_MS = 240_000;
/** The first build compiles some 1,500 packages. */
const BUILD_MS = 900_000;

let installation: Installation;
let browser: Browser;
beforeAll(async () => {
  const built = await buildTofu();
  const port = String(await findFreePort());
  installation = await install(async (place) => {
    // The users of runs cannot read the cache in which it was built.
    const program = join(await place('bin'), 'tofu');
    await copyFile(built, program);
    return {
      KEELSON_HTTPS_PORT: port,
      KEELSON_PUBLIC_URL: `https://localhost:${port}`,
      KEELSON_RUNNER: 'true',
      KEELSON_RUNNER_FOLDER: await place('runner'),
      KEELSON_RUNNER_TOOL: 'tofu',
      PATH: `${dirname(program)}:${process.env['PATH']}`,
    };
  }, built);
  browser = await launchChromium();
}, BUILD_MS);
afterAll(async () => {
  await browser.close();
  await installation[Symbol.asyncDispose]();
}, SLOW_MS);

describe('tofu login', { timeout: SLOW_MS }, () => {
  test('opens the console, and stores a token that works until logout', async () => {
    const { host, http, token } = installation;
    const { home, login, storedToken } = await newStranger(installation, 'home');
    const command = login();
    const page = await openLogin(browser, await command.matched(AUTHORIZATION), token);
    await page.getByText('asks for an API token of your account admin').waitFor();
    await approveLogin(page);
    const { code, output } = await command.outcome;
    expect(output).toContain('OpenTofu has obtained and saved an API token.');
    expect(code).toBe(0);
    const own = await storedToken();
    expect(own).toMatch(/\.atlasv1\./);
    expect(output).not.toContain(own);
    const headers = { authorization: `Bearer ${own}` };
    expect((await fetch(`${http}/api/v2/account/details`, { headers })).status).toBe(200);
    const { data } = await installation.call('GET', '/account/details');
    const { list } = await installation.call('GET', `/users/${data.id}/authentication-tokens`);
    expect(list.map(({ attributes }) => attributes['description'])).toContainEqual(
      expect.stringMatching(/^tofu login \(\d+\.\d+\.\d+\), \d{4}-\d\d-\d\d \d\d:\d\d UTC$/),
    );
    const logout = await installation.asStranger(home, [], 'logout', host).outcome;
    expect([logout.code, await storedToken()]).toEqual([0, undefined]);
  });

  test('stores nothing when the user refuses, and says so', async () => {
    const { login, storedToken } = await newStranger(installation, 'another-home');
    const command = login();
    const page = await openLogin(browser, await command.matched(AUTHORIZATION), installation.token);
    await page.getByRole('button', { name: 'Refuse' }).click();
    const { code, output } = await command.outcome;
    expect(code).toBe(1);
    expect(output.replaceAll(/\s+/g, ' ')).toContain('the user has refused');
    await expect(storedToken()).rejects.toThrow('ENOENT');
  });
});

/** A project that is initialized, with its workspace. */
const open = async (name: string, executionMode: 'local' | 'remote') => {
  const attributes = { name, 'execution-mode': executionMode };
  const { data } = await installation.call('POST', '/organizations/acme/workspaces', {
    data: { type: 'workspaces', attributes },
  });
  const project = await installation.project({
    'cloud.tf': cloudBlock(installation.host, `name = "${name}"`),
    'main.tf': configuration('first'),
  });
  await project.run('init');
  const workspace = async () => (await installation.call('GET', `/workspaces/${data.id}`)).data;
  return { ...project, id: data.id, workspace };
};

describe('tofu with a cloud block', { timeout: SLOW_MS }, () => {
  test('plans, applies, shows outputs, changes the state and destroys', async () => {
    const { run, write, workspace } = await open('local-work', 'local');
    expect(await run('plan')).toContain('1 to add');
    expect(await run('apply', '-auto-approve')).toContain('1 added');
    expect((await workspace()).attributes).toMatchObject({ 'resource-count': 1, locked: false });
    expect((await run('output', '-raw', 'one')).trim()).toBe('first');
    expect(JSON.parse(await run('output', '-json', 'secret'))).toEqual(['hidden first']);
    expect(JSON.parse(await run('state', 'pull'))).toMatchObject({ serial: expect.any(Number) });
    await run('state', 'mv', 'terraform_data.one', 'terraform_data.two');
    expect(await run('state', 'list')).toBe('terraform_data.two\n');
    await run('state', 'mv', 'terraform_data.two', 'terraform_data.one');
    expect(await run('plan')).toContain('No changes');
    await write('main.tf', configuration('second'));
    expect(await run('apply', '-auto-approve')).toContain('1 changed');
    expect(await run('show')).toContain('terraform_data.one');
    expect(await run('destroy', '-auto-approve')).toContain('1 destroyed');
    expect((await workspace()).attributes['resource-count']).toBe(0);
  });

  test('changes nothing while a person holds the lock', async () => {
    const { run, refused, id, workspace } = await open('held', 'local');
    await installation.call('POST', `/workspaces/${id}/actions/lock`, { reason: 'maintenance' });
    expect(await refused('apply', '-auto-approve')).toContain('locked');
    expect((await workspace()).attributes['resource-count']).toBe(0);
    await installation.call('POST', `/workspaces/${id}/actions/unlock`, {});
    expect(await run('apply', '-auto-approve')).toContain('1 added');
  });

  test('has its runs executed by the built-in runner, with itself', async () => {
    const { run, write, id } = await open('remote-work', 'remote');
    const plan = await run('plan');
    expect(plan).toContain('OpenTofu will perform the following actions');
    expect(plan).toContain('1 to add');
    expect(await run('apply', '-auto-approve')).toContain('1 added');
    expect((await run('output', '-raw', 'one')).trim()).toBe('first');
    await write('main.tf', configuration('second'));
    expect(await run('apply', '-auto-approve')).toContain('1 changed');
    const { list } = await installation.call('GET', `/workspaces/${id}/runs`);
    // The list leaves out runs that only plan.
    expect(list.map(({ attributes }) => attributes['status'])).toEqual(['applied', 'applied']);
  });
});
