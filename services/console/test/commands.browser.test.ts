/** The commands of a page, which do what it does. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';

const site = useConsole();

describe('a page', { timeout: PATIENCE_MS }, () => {
  test('shows what it does as commands, which do the same in the same namespace', async () => {
    await site.secrets('sys/namespaces/shell', {});
    await site.secrets(
      'sys/policies/acl/there',
      { policy: 'path "a" { capabilities = [] }' },
      'shell',
    );
    const { page, problems } = await site.openSignedIn('/ui/policies', { namespace: 'shell' });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('link', { name: 'there' }).waitFor();
    await page.getByRole('button', { name: 'Commands', exact: true }).click();
    const copied = async (tool: string): Promise<string> => {
      await page.getByRole('button', { name: `Copy the command for ${tool}` }).click();
      return page.evaluate<string>('navigator.clipboard.readText()');
    };
    expect(await copied('vault')).toBe('VAULT_NAMESPACE=shell vault policy list');
    const { stdout } = await promisify(execFile)('sh', ['-c', await copied('curl')], {
      env: { ...process.env, KEELSON_TOKEN: site.rootToken() },
    });
    expect(JSON.parse(stdout).data.keys).toContain('there');
    expect(problems).toEqual([]);
  });

  test('has one panel for the commands of all its parts, as they are now', async () => {
    await site.secrets('sys/mounts/told', { type: 'pki' });
    await site.secrets('told/root/generate/internal', { common_name: 'Told', key_type: 'ec' });
    await site.secrets('told/roles/web', { allow_any_name: true });
    const { page, problems } = await site.openSignedIn('/ui/certificates/told?tab=roles');
    const open = page.getByRole('button', { name: 'Commands', exact: true });
    const panel = page.getByRole('dialog', { name: 'Commands of this page' });
    const readCommand = panel.getByText('vault read told/roles/web', { exact: true });
    await page.getByRole('button', { name: 'Issue by web' }).click();
    await page.getByLabel('Name of the certificate').fill('a.example.com');
    await open.click();
    await panel
      .getByRole('region', { name: 'Issue by web' })
      .getByText('a.example.com')
      .last()
      .waitFor();
    await readCommand.waitFor();
    // In the order of the page.
    expect(await panel.getByRole('heading', { level: 2 }).allTextContents()).toEqual([
      'Issue by web',
      'web',
    ]);
    await page.keyboard.press('Escape');
    await open.and(page.locator(':focus')).waitFor();
    await page.getByLabel('Name of the certificate').fill('b.example.com');
    await open.click();
    await panel.getByText('b.example.com').last().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Issuers' }).click();
    await open.click();
    await panel.getByText('vault list told/issuers', { exact: true }).waitFor();
    expect(await readCommand.count()).toBe(0);

    await page.goto(`${site.origin()}/ui/policies#commands`);
    await panel.getByText('vault policy list', { exact: true }).waitFor();
    expect(problems).toEqual([]);
  });
});
