/**
 * The console before services in processes of their own, on PostgreSQL and Redis: from the cluster's
 * first start, which no file has prepared, to a certificate and a run that is followed live.
 */
import { startPostgres, startRedis } from '@keelson/testkit';
import { type DistributedCluster, startDistributed } from '@keelson/testkit/distributed-cluster';
import { addPlannedRun } from '@keelson/testkit/planned-run';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { confirm } from './confirm.ts';
import { PATIENCE_MS, signIn, useChromiumOn } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const stack = new AsyncDisposableStack();
let cluster: DistributedCluster;
let rootToken = '';
const site = useChromiumOn(() => ({
  http: cluster.urls[0] ?? '',
  rootToken,
  apiToken: cluster.apiToken,
}));

beforeAll(async () => {
  const [postgres, redis] = [stack.use(await startPostgres()), stack.use(await startRedis())];
  cluster = await startDistributed({
    postgres,
    redisUrl: redis.url,
    name: 'pages',
    seal: 'shamir',
    isInitialized: false,
    replicas: { pki: 2, gateway: 2 },
  });
  stack.defer(() => cluster.stop());
}, PATIENCE_MS);
afterAll(() => stack.disposeAsync());

describe('a distributed cluster', { timeout: PATIENCE_MS }, () => {
  test('is initialized by the wizard, and unsealed with the shares that it shows once', async () => {
    const { page, problems } = await site.open();
    await page.getByText('This cluster is not initialized').waitFor();
    await page.getByLabel('Key shares').fill('3');
    await page.getByLabel('Shares required to unseal').fill('4');
    await page.getByRole('button', { name: 'Generate the keys' }).click();
    await page
      .getByRole('alert')
      .getByText(/threshold/)
      .waitFor();
    await page.getByLabel('Shares required to unseal').fill('2');
    expect(await faultsInVariants(page, 'initialize')).toEqual({});
    await page.getByRole('button', { name: 'Generate the keys' }).click();
    await page.getByText('never again').waitFor();
    const shares = await page.locator('.init-wizard-shares code').allTextContents();
    rootToken = (await page.getByText('First token').locator('code').textContent()) ?? '';
    expect(shares).toHaveLength(3);
    expect(await faultsInVariants(page, 'new keys')).toEqual({});
    await page.getByRole('button', { name: 'Continue: I have stored them' }).click();
    await signIn(page, rootToken);
    await confirm(page, 'Seal', 'Seal it', (dialog) => dialog.getByLabel('to go on').fill('seal'));
    await page.getByText('This cluster is sealed').waitFor();
    await page.getByLabel('Key share').fill(shares[0] ?? '');
    await page.getByRole('button', { name: 'Submit share' }).click();
    await page.getByText('1 of 2 key shares given').waitFor();
    expect(await faultsInVariants(page, 'unseal')).toEqual({});
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByText('0 of 2 key shares given').waitFor();
    for (const [at, share] of shares.slice(1).entries()) {
      await page.getByText(`${at} of 2 key shares given`).waitFor();
      await page.getByLabel('Key share').fill(share);
      await page.getByRole('button', { name: 'Submit share' }).click();
    }
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(await page.getByText(shares[0] ?? '').count()).toBe(0);
    expect(problems.filter((one) => !one.includes('503'))).toEqual([]);
    await site.untilReady();
  });

  test('shows its nodes, issues a certificate and follows a run live', async () => {
    const { runId, claim, log, finish } = await addPlannedRun(site, 'live');
    const { page, problems } = await site.openSignedIn('/ui/');
    const dialog = page.getByRole('dialog');
    await page.getByText('active', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Certificates' }).click();
    await page.getByRole('button', { name: 'Create authority' }).click();
    await dialog.getByLabel('Name of the root').fill('Root');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'pki' }).waitFor();
    await page.getByRole('button', { name: 'Create role' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('web');
    await dialog.getByLabel('Domains, separated by commas').fill('example.com');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Issue by web' }).click();
    await page.getByLabel('Name of the certificate').fill('www.example.com');
    await page.getByRole('button', { name: 'Issue the certificate' }).click();
    await page.getByRole('status', { name: 'Issued' }).waitFor();
    await page.goto(`${site.origin()}/app/acme/live/runs/${runId}`);
    await page.getByRole('button', { name: 'Confirm and apply' }).click();
    await dialog.getByRole('button', { name: 'Confirm and apply' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await claim();
    await log('Creating one…\n');
    await page.getByText('Creating one…').waitFor();
    await finish({ 'resource-additions': 2 });
    await page.getByText('2 added, 0 changed, 0 destroyed').waitFor();
    expect(problems).toEqual([]);
  });
});
