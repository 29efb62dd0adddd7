/** Sealing, unsealing and restoring the cluster in the console. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { confirm } from './confirm.ts';
import { PATIENCE_MS, signIn, useConsole } from './console-harness.ts';

const site = useConsole();

/** While it is sealed or being restored, the cluster refuses what the page asks. */
const beyondSeal = (problems: readonly string[]): readonly string[] =>
  problems.filter((one) => !one.includes('503'));

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
      await page.getByRole('button', { name: 'Submit share' }).click();
      if (at < 2) await page.getByText(`${at + 1} of 3 key shares given`).waitFor();
    }
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(beyondSeal(problems)).toEqual([]);
  });

  test('names an audit device that cannot be written to, also where nobody can sign in for it', async () => {
    const gone = join(site.folder(), 'gone');
    mkdirSync(gone);
    const options = { file_path: join(gone, 'audit.log') };
    await site.secrets('sys/audit/lost', { type: 'file', options });
    const saved = await fetch(`${site.origin()}/v1/sys/storage/raft/snapshot`, {
      headers: { 'x-service-token': site.rootToken() },
    });
    const snapshot = await saved.arrayBuffer();
    const removed = await fetch(`${site.origin()}/v1/sys/audit/lost`, {
      method: 'DELETE',
      headers: { 'x-service-token': site.rootToken() },
    });
    expect(removed.status).toBe(204);
    rmSync(gone, { recursive: true });
    const restored = await fetch(`${site.origin()}/v1/sys/storage/raft/snapshot`, {
      method: 'POST',
      headers: { 'x-service-token': site.rootToken() },
      body: snapshot,
    });
    expect(restored.status).toBe(200);
    await site.reopen();
    await site.untilReady();
    const { page } = await site.open();
    const faults = page.getByRole('region', { name: 'Faults' });
    await faults.getByText('the audit device lost/ cannot be written to (ENOENT)').waitFor();
    // The page that follows shows the faults until it learns that an entry has been accepted.
    const shown = Promise.withResolvers<void>();
    await page.route('**/readyz', async (route) => {
      await shown.promise;
      await route.continue();
    });
    mkdirSync(gone);
    await signIn(page, site.rootToken());
    await faults.waitFor();
    shown.resolve();
    await faults.waitFor({ state: 'detached' });
    await fetch(`${site.origin()}/v1/sys/audit/lost`, {
      method: 'DELETE',
      headers: { 'x-service-token': site.rootToken() },
    });
  });

  test('restores a snapshot, which brings back the time before', async () => {
    const { page, problems } = await site.openSignedIn('/ui/snapshots');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Take a snapshot' }).click();
    const snapshot = await saved;
    expect(snapshot.suggestedFilename()).toMatch(/^keelson-\d{4}-\d\d-\d\d\.snapshot$/);
    const file = join(site.folder(), 'saved.snapshot');
    await snapshot.saveAs(file);
    await site.secrets('sys/namespaces/later', {});
    await confirm(page, 'Restore a snapshot', 'Replace everything', async (dialog) => {
      await dialog.getByText('Everything written since the snapshot is lost').waitFor();
      await dialog.getByLabel('File').setInputFiles(file);
      await dialog.getByLabel('to go on').fill('replace everything');
    });
    // The key file of a standalone cluster opens it again; without one it takes the shares.
    await site.reopen();
    await site.untilReady();
    await page.goto(`${site.origin()}/ui/namespaces`);
    await page.getByText('There is no namespace below this one.').waitFor();
    expect(beyondSeal(problems)).toEqual([]);
  });
});
