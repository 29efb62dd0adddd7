/** Changing a cluster's replication role in the console: primary, token, demotion, promotion. */
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';

const site = useConsole({ hasNats: true });

describe('replication', { timeout: PATIENCE_MS }, () => {
  test('makes a primary, lets a secondary in by a token shown once, demotes, and promotes after asking what would be lost', async () => {
    const { page, problems } = await site.openSignedIn('/ui/replication');
    const dialog = page.getByRole('dialog');
    const performance = page.locator('.card').filter({
      has: page.getByRole('heading', { name: 'Performance' }),
    });
    await performance.getByRole('button', { name: 'Become a secondary' }).click();
    await dialog.getByText('Everything in this cluster is wiped').waitFor();
    expect(await dialog.getByRole('button', { name: 'Wipe it and follow' }).isDisabled()).toBe(
      true,
    );
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await performance.getByRole('button', { name: 'Become a primary' }).click();
    await dialog.getByRole('button', { name: 'Become a primary' }).click();
    await performance.getByRole('img', { name: /This cluster, primary/ }).waitFor();
    await performance.getByRole('button', { name: 'Let a secondary in' }).click();
    await dialog.getByLabel('Id of the secondary').fill('west');
    await dialog.getByRole('button', { name: 'Make the token' }).click();
    const token = page.getByRole('status', { name: 'Token for the secondary' }).locator('code');
    expect(((await token.textContent()) ?? '').length).toBeGreaterThan(20);

    await performance.getByRole('button', { name: 'Demote' }).click();
    await dialog.getByLabel('to go on').fill('demote');
    await dialog.getByRole('button', { name: 'Demote it' }).click();
    await performance.getByRole('button', { name: 'What would be lost?' }).click();
    await performance.getByRole('status', { name: 'What would be lost' }).waitFor();
    await performance.getByRole('button', { name: 'Promote', exact: true }).click();
    await dialog.getByLabel('to go on').fill('promote');
    await dialog.getByRole('button', { name: 'Promote it' }).click();
    await performance.getByRole('img', { name: /This cluster, primary/ }).waitFor();
    // While its role changes, a cluster refuses requests that it cannot serve yet.
    expect(problems.filter((one) => !one.includes('503'))).toEqual([]);
  });
});
