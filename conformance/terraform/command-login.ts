/** The user's part of `terraform login`: a shell with a home, and Chromium. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, openPage, type Page } from '@keelson/testkit/chromium';
import { onTestFinished } from 'vitest';
import type { Installation, RunningCommand } from './terraform-cli.ts';

/** The address that the tool opens, or prints where it cannot. */
export const AUTHORIZATION = /https:\/\/localhost:\d+\/app\/command-login\?\S+&state=[\w-]{36}/;

/** Opens the page as somebody without a session, who signs in with a token. */
export const openLogin = async (
  browser: Browser,
  address: string,
  token: string,
): Promise<Page> => {
  const { page } = await openPage(browser, address, { ignoreHTTPSErrors: true });
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  return page;
};

/** Gives the command its token, and waits until the command has its code. */
export const approveLogin = async (page: Page): Promise<void> => {
  const asking = page.waitForRequest((request) => new URL(request.url()).pathname === '/login');
  await page.getByRole('button', { name: 'Give the command a token' }).click();
  const request = await asking;
  // The command stops to listen once it has the code, and its answer may be lost.
  await request.response().catch(() => undefined);
};

interface StoredCredentials {
  readonly credentials: Readonly<Record<string, { readonly token: string }>>;
}

/** Somebody who has a home and no credentials. */
export interface Stranger {
  readonly home: string;
  /** Begins to sign in; ended with the test. */
  readonly login: () => RunningCommand;
  /** The token that the tool has stored. @throws Error if it has stored nothing so far */
  readonly storedToken: () => Promise<string | undefined>;
}

export const newStranger = async (installation: Installation, name: string): Promise<Stranger> => {
  const { host } = installation;
  const home = await installation.folder(name);
  // The tool does not make it.
  await mkdir(join(home, '.terraform.d'));
  return {
    home,
    login: () => {
      const command = installation.asStranger(home, ['yes'], 'login', host);
      // While it waits for a code, it takes no other signal.
      onTestFinished(() => void command.child.kill('SIGKILL'));
      return command;
    },
    storedToken: async () => {
      const stored = await readFile(join(home, '.terraform.d', 'credentials.tfrc.json'), 'utf8');
      return (JSON.parse(stored) as StoredCredentials).credentials[host]?.token;
    },
  };
};
