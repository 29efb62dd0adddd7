/** Sealing and unsealing the cluster in the console. */
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS, signIn, useConsole } from './console-harness.ts';

const site = useConsole();

describe('the seal', { timeout: PATIENCE_MS }, () => {
  test('seals the cluster and opens it again with key shares, counted one by one', async () => {
    const { page, problems } = await site.open();
    await signIn(page, site.rootToken());
    await page.getByRole('button', { name: 'Seal', exact: true }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Seal it' }).isDisabled()).toBe(true);
    await dialog.getByLabel('to go on').fill('seal');
    await dialog.getByRole('button', { name: 'Seal it' }).click();
    await page.getByRole('note').getByText('This cluster is sealed').waitFor();
    for (const [at, share] of site.unsealKeys().slice(0, 3).entries()) {
      await page.getByLabel('Key share').fill(share);
      await page.getByRole('button', { name: 'Give share' }).click();
      if (at < 2) await page.getByText(`${at + 1} of 3 key shares given`).waitFor();
    }
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(problems.filter((one) => !one.includes('503'))).toEqual([]);
  });
});
