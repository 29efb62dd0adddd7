import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Installation, install } from './terraform-cli.ts';

describe('terraform login', () => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await install();
  });
  afterAll(() => installation[Symbol.asyncDispose]());

  test('names a page that explains how to create a token, stores one, and logout removes it', async () => {
    const { host, token } = installation;
    const home = await installation.folder('home');
    // The tool does not make it.
    await mkdir(join(home, '.terraform.d'));
    const { code, output } = await installation.asStranger(home, ['yes', token], 'login', host);
    expect(output).toContain('Retrieved token for user admin');
    expect(code).toBe(0);
    expect(output).not.toContain(token);
    // The tool leaves the port out.
    expect(output).toContain('https://localhost/app/settings/tokens');
    const kept = () => readFile(join(home, '.terraform.d', 'credentials.tfrc.json'), 'utf8');
    expect(JSON.parse(await kept())).toEqual({ credentials: { [host]: { token } } });
    expect((await installation.asStranger(home, [], 'logout', host)).code).toBe(0);
    expect(await kept()).not.toContain(token);
  });

  test('refuses an invalid token', async () => {
    const home = await installation.folder('another-home');
    const { code, output } = await installation.asStranger(
      home,
      ['yes', 'none'],
      'login',
      installation.host,
    );
    expect(code).toBe(1);
    expect(output).toContain('Token is invalid: unauthorized');
  });
});
