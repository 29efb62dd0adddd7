/**
 * The start page.
 *
 * | block | shows | for |
 * | --- | --- | --- |
 * | runs of an organization | those that wait for the person, and those that have failed in the last day | whoever may read them; a run waits only for those who may apply it |
 * | locks | the workspaces that the person has locked | the person alone |
 * | certificates and issuers that expire | the authorities of the namespace | whoever may read the numbers of each |
 */
import type { Page } from '@keelson/testkit/chromium';
import { addPlannedRun } from '@keelson/testkit/planned-run';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';
import { watchRequests } from './settled.ts';

const site = useConsole();

const addAuthority = async (path: string, ttl: string, namespace = ''): Promise<void> => {
  const mount = { type: 'pki', config: { max_lease_ttl: '87600h' } };
  await site.secrets(`sys/mounts/${path}`, mount, namespace);
  const root = { common_name: path, key_type: 'ec', ttl };
  await site.secrets(`${path}/root/generate/internal`, root, namespace);
};

beforeAll(async () => {
  await addPlannedRun(site, 'waiting');
  const failed = await addPlannedRun(site, 'failed');
  await site.workspaces('POST', `runs/${failed.runId}/actions/apply`, {});
  await failed.claim();
  await failed.finish({ status: 'errored' });
  await addAuthority('lasting', '26300h');
  await addAuthority('ending', '240h');
  await site.secrets('sys/namespaces/team', {});
  await addAuthority('inner', '26300h', 'team');
}, PATIENCE_MS);

const rowsOf = (page: Page, table: string) =>
  page.getByRole('table', { name: table }).getByRole('row');

describe('the start page', { timeout: PATIENCE_MS }, () => {
  test('begins with the runs that wait or have failed, and with issuers that end', async () => {
    const { page, problems } = await site.openSignedIn('/ui/');
    const waiting = rowsOf(page, 'Waiting for you, acme');
    await waiting.filter({ hasText: 'waiting' }).getByText('planned').waitFor();
    expect(await waiting.count()).toBe(2);
    await rowsOf(page, 'Failed in the last day, acme').filter({ hasText: 'failed' }).waitFor();
    const authorities = rowsOf(page, 'Certificates and issuers that expire');
    await authorities.filter({ hasText: 'ending' }).getByText('in 9 days').waitFor();
    await authorities.filter({ hasText: 'lasting' }).getByText('none').waitFor();
    expect(await authorities.filter({ hasText: 'inner' }).count()).toBe(0);
    const { data: kept } = await site.workspaces('POST', 'organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'kept' } },
    });
    const reason = { reason: 'maintenance' };
    await site.workspaces('POST', `workspaces/${kept.id}/actions/lock`, reason);
    await page.reload();
    await rowsOf(page, 'Locks you hold')
      .filter({ hasText: 'kept' })
      .getByText('maintenance')
      .waitFor();
    expect(await faultsInVariants(page, 'start page')).toEqual({});
    await waiting.getByRole('link', { name: 'Two machines more' }).click();
    await page.getByRole('button', { name: 'Confirm and apply' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('has no run for a person who may not apply it, and nothing of other namespaces', async () => {
    const { data: team } = await site.workspaces('POST', 'organizations/acme/teams', {
      data: {
        type: 'teams',
        attributes: { name: 'readers', 'organization-access': { 'read-workspaces': true } },
      },
    });
    const workspaces = await site.addUser('reader', team.id);
    await site.secrets(
      'sys/policies/acl/lists',
      { policy: 'path "inner/issuers" { capabilities = ["list"] }' },
      'team',
    );
    const { auth } = await site.secrets('auth/token/create', { policies: ['lists'] }, 'team');
    const { page } = await site.openSignedIn('/ui/', {
      workspaces,
      secrets: auth.client_token,
      namespace: 'team',
    });
    const settled = watchRequests(page);
    await rowsOf(page, 'Failed in the last day, acme').filter({ hasText: 'failed' }).waitFor();
    await page.getByText('No run waits for you.').waitFor();
    const authorities = rowsOf(page, 'Certificates and issuers that expire');
    await authorities.filter({ hasText: 'inner' }).getByText('in 3 years').waitFor();
    await settled();
    expect(await authorities.count()).toBe(2);
    expect(await page.getByRole('heading', { name: 'Locks you hold' }).count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('shows all other blocks when one fails', async () => {
    const { page } = await site.openSignedIn('/ui/policies');
    await page.route('**/acme/runs*errored*', (route) =>
      route.fulfill({ status: 500, json: { errors: [{ detail: 'the runs cannot be read' }] } }),
    );
    await page.route('**/v1/ending/certs/summary', (route) =>
      route.fulfill({ status: 500, json: { errors: ['broken'] } }),
    );
    await page.goto(`${site.origin()}/ui/`);
    await page.getByText('the runs cannot be read').waitFor();
    await rowsOf(page, 'Waiting for you, acme').filter({ hasText: 'waiting' }).waitFor();
    const authorities = rowsOf(page, 'Certificates and issuers that expire');
    await authorities.filter({ hasText: 'ending' }).getByText('cannot be read').waitFor();
    await authorities.filter({ hasText: 'lasting' }).getByText('none').waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
  });
});
