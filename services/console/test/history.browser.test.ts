/**
 * Charts of the services' own counters.
 *
 * | page | shows | for |
 * | --- | --- | --- |
 * | overview | requests, errors and durations of the cluster | a token that may read `sys/history` |
 * | authority | certificates and ACME orders of its mount, in its namespace | a token that may read the mount's `history` |
 * | workspace | its runs and their time in the queue | whoever may read them |
 */
import type { Page } from '@keelson/testkit/chromium';
import { addPlannedRun } from '@keelson/testkit/planned-run';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';
import { watchRequests } from './settled.ts';

const DASHBOARD = 'https://grafana.example/d/keelson';

const site = useConsole();

const addAuthority = async (namespace: string, certificates: number): Promise<string> => {
  await site.secrets('sys/mounts/pki', { type: 'pki' }, namespace);
  const root = { common_name: 'Root', key_type: 'ec' };
  await site.secrets('pki/root/generate/internal', root, namespace);
  await site.secrets('pki/roles/web', { allow_any_name: true, key_type: 'ec' }, namespace);
  let serial = '';
  for (let count = 0; count < certificates; count += 1) {
    const issue = { common_name: `${count}.example.com`, ttl: '1h' };
    serial = (await site.secrets('pki/issue/web', issue, namespace)).data.serial_number;
  }
  return serial;
};

beforeAll(async () => {
  const serial_number = await addAuthority('', 3);
  await site.secrets('pki/revoke', { serial_number });
  await site.secrets('sys/namespaces/team', {});
  await addAuthority('team', 1);
  await addPlannedRun(site, 'web');
}, PATIENCE_MS);

const cardOf = (page: Page, title: string) =>
  page.locator('.card').filter({ has: page.getByRole('heading', { name: title, exact: true }) });

describe('charts', { timeout: PATIENCE_MS }, () => {
  test('show what an authority did in the last hour, day and 30 days, also as a table', async () => {
    const { page, problems } = await site.openSignedIn('/ui/certificates/pki');
    const card = cardOf(page, 'History');
    await card
      .getByRole('img', { name: 'Certificates in the last day: 3 issued, 1 revoked' })
      .waitFor();
    await card.getByText('Nothing in the last day.').waitFor();
    await card.getByText('Certificates as a table').click();
    const table = card.getByRole('table', { name: 'Certificates in the last day' });
    expect(await table.getByRole('row').count()).toBeGreaterThan(1);
    const period = card.getByLabel('Period of History');
    for (const words of ['the last hour', 'the last 30 days']) {
      await period.selectOption(words);
      const name = `Certificates in ${words}: 3 issued, 1 revoked`;
      await card.getByRole('img', { name }).waitFor();
    }
    expect(await faultsInVariants(page, 'history of an authority')).toEqual({});
    expect(problems).toEqual([]);
  });

  test('show the authority of the namespace, and nothing of the cluster to it', async () => {
    const { page, problems } = await site.openSignedIn('/ui/certificates/pki', {
      namespace: 'team',
    });
    await page
      .getByRole('img', { name: 'Certificates in the last day: 1 issued, 0 revoked' })
      .waitFor();
    expect(problems).toEqual([]);
  });

  test('show the requests of the cluster and the runs of a workspace', async () => {
    const { page, problems } = await site.openSignedIn('/ui/');
    await page.getByRole('img', { name: /^Requests in the last day: \d+ answered$/ }).waitFor();
    await page
      .getByRole('img', { name: /^Duration of requests in the last day: median at most [\d,]+ ms/ })
      .waitFor();
    expect(await faultsInVariants(page, 'history of the cluster')).toEqual({});
    await page.goto(`${site.origin()}/app/acme/workspaces/web`);
    await page
      .getByRole('img', {
        name: 'Runs by their start in the last day: 0 finished, 0 errored, 1 not ended',
      })
      .waitFor();
    expect(await faultsInVariants(page, 'history of a workspace')).toEqual({});
    expect(problems).toEqual([]);
  });

  test('link to the dashboard that the settings name', async () => {
    const { page } = await site.openSignedIn('/ui/policies');
    // Processes of a distributed installation refuse the setting of another service.
    await page.route('**/v1/sys/history*', async (route) => {
      const response = await route.fetch();
      const { data, ...others } = await response.json();
      await route.fulfill({
        response,
        json: { ...others, data: { ...data, grafana_url: DASHBOARD } },
      });
    });
    await page.goto(`${site.origin()}/ui/`);
    const dashboard = page.getByRole('link', { name: 'Dashboard in Grafana' });
    expect(await dashboard.getAttribute('href')).toBe(DASHBOARD);
  });

  test('are left out for whoever may not read them', async () => {
    await site.secrets('sys/policies/acl/lists', {
      policy:
        'path "pki/certs/*" { capabilities = ["read", "list"] }\npath "sys/leases/count" { capabilities = ["read"] }',
    });
    const { auth } = await site.secrets('auth/token/create', { policies: ['lists'] });
    const { page } = await site.openSignedIn('/ui/certificates/pki', {
      secrets: auth.client_token,
    });
    const settled = watchRequests(page);
    await page.getByRole('img', { name: /expire within 13 weeks/ }).waitFor();
    await settled();
    expect(await page.getByRole('heading', { name: 'History' }).count()).toBe(0);
    await page.goto(`${site.origin()}/ui/`);
    await page.getByRole('heading', { name: 'Your token' }).waitFor();
    await settled();
    expect(await page.getByRole('heading', { name: 'History' }).count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('fail alone, and say why', async () => {
    const { page } = await site.openSignedIn('/ui/policies');
    await page.route('**/v1/pki/history*', (route) =>
      route.fulfill({ status: 500, json: { errors: ['the numbers cannot be read'] } }),
    );
    await page.goto(`${site.origin()}/ui/certificates/pki`);
    await cardOf(page, 'History').getByText('the numbers cannot be read').waitFor();
    await page.getByRole('img', { name: /expire within 13 weeks/ }).waitFor();
    const table = page.getByRole('table', { name: 'Certificates' });
    await table.getByText('0.example.com').waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
  });
});
