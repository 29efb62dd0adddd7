/** The state of the built-in runner, which only the standalone form has in its process. */
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import type { Page } from '@keelson/testkit/chromium';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useChromiumOn } from './console-harness.ts';

let folder: TemporaryDirectory;
let server: KeelsonProcess;
const site = useChromiumOn(() => server);

const startWith = async (name: string, env: Readonly<Record<string, string>>): Promise<void> => {
  server = await startKeelson({ dataFolder: join(folder.path, name), env });
};
beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(() => folder[Symbol.asyncDispose]());

const runsOn = (page: Page) =>
  page.locator('.tile').filter({ has: page.getByRole('heading', { name: 'Runs' }) });

describe('the overview', { timeout: PATIENCE_MS }, () => {
  test('shows that the runner is off to everybody, and what is missing to those who may see it', async () => {
    await startWith('off', { KEELSON_RUNNER: 'true', PATH: '/nonexistent' });
    try {
      const { page } = await site.open();
      await page.getByRole('region', { name: 'Faults' }).getByText('runner is off').waitFor();
      expect(await page.evaluate('document.body.innerText')).not.toContain('bubblewrap');
      const { page: own, problems } = await site.openSignedIn('/ui/');
      await runsOn(own).getByText('off', { exact: true }).waitFor();
      await runsOn(own).getByText('bubblewrap: the program is not installed').waitFor();
      expect(problems).toEqual([]);
      // A token that may not read the machine gets no tile, and the page asks for none.
      const made = await site.secrets('auth/token/create', { policies: ['default'] });
      const limited = await site.openSignedIn('/ui/', { secrets: made.auth.client_token });
      await limited.page.getByText('Your token').waitFor();
      expect(await runsOn(limited.page).count()).toBe(0);
    } finally {
      await server.stop();
    }
  });

  test('shows that runs are executed without a sandbox', async () => {
    await startWith('unsafe', { KEELSON_RUNNER: 'unsafe' });
    try {
      const { page, problems } = await site.openSignedIn('/ui/');
      await runsOn(page).getByText('no sandbox', { exact: true }).waitFor();
      await runsOn(page).getByText('who may queue one can read what its user can read').waitFor();
      expect(await page.getByRole('region', { name: 'Faults' }).count()).toBe(0);
      expect(problems).toEqual([]);
    } finally {
      await server.stop();
    }
  });
});
