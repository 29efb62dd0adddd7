/**
 * Checks every page of the console, on desktop and phone, light and dark: accessibility with axe,
 * and no horizontal overflow.
 */
import { addPlannedRun } from '@keelson/testkit/planned-run';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();

/** URLs by the content of the page. */
const pages = new Map<string, string>([
  ['overview', '/ui/'],
  ['messages', '/ui/messages'],
  ['replication', '/ui/replication'],
  ['policies', '/ui/policies'],
  ['policy', '/ui/policies/default'],
  ['tokens', '/ui/tokens'],
  ['mounts', '/ui/mounts'],
  ['audit devices', '/ui/audit'],
  ['snapshots', '/ui/snapshots'],
  ['namespaces', '/ui/namespaces'],
  ['leases', '/ui/leases'],
  ['authorities', '/ui/certificates'],
  ['certificates', '/ui/certificates/pki'],
  ['issuers', '/ui/certificates/pki?tab=issuers'],
  ['roles', '/ui/certificates/pki?tab=roles'],
  ['settings', '/ui/certificates/pki?tab=settings'],
  ['organizations', '/app'],
  ['API tokens', '/app/settings/tokens'],
  ['workspaces', '/app/acme/workspaces'],
  ['workspace', '/app/acme/workspaces/web'],
  ['runs', '/app/acme/workspaces/web?tab=runs'],
  ['states', '/app/acme/workspaces/web?tab=states'],
  ['variables', '/app/acme/workspaces/web?tab=variables'],
  ['workspace settings', '/app/acme/workspaces/web?tab=settings'],
  ['projects', '/app/acme/projects'],
  ['teams', '/app/acme/teams'],
  ['agent pools', '/app/acme/agent-pools'],
  ['variable sets', '/app/acme/variable-sets'],
  ['version control', '/app/acme/version-control'],
]);

beforeAll(async () => {
  await site.secrets('sys/config/ui/custom-messages', {
    title: 'Later',
    message: 'SGk=',
    start_time: '2099-01-01T00:00:00Z',
  });
  await site.secrets('sys/mounts/pki', { type: 'pki' });
  await site.secrets('pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' });
  await site.secrets('pki/roles/web', { allowed_domains: 'example.com', allow_subdomains: true });
  const issued = await site.secrets('pki/issue/web', { common_name: 'a.example.com', ttl: '20h' });
  pages.set('certificate', `/ui/certificates/pki/certificate/${issued.data.serial_number}`);
  const { runId, workspaceId } = await addPlannedRun(site, 'web');
  await site.workspaces('POST', `workspaces/${workspaceId}/notification-configurations`, {
    data: {
      type: 'notification-configurations',
      attributes: { name: 'pager', 'destination-type': 'slack', url: 'https://chat.example/hook' },
    },
  });
  pages.set('run', `/app/acme/web/runs/${runId}`);
  const { data: teams } = await site.workspaces('GET', 'organizations/acme/teams');
  pages.set('team', `/app/acme/teams/${teams[0].id}`);
}, PATIENCE_MS);

describe('every page', { timeout: PATIENCE_MS * 2 }, () => {
  test('on a desktop and a telephone, light and dark', async () => {
    const { page, problems } = await site.openSignedIn('/ui/');
    for (const [name, path] of pages) {
      await page.goto(site.origin() + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
      expect({ name, faults: await faultsInVariants(page, name) }).toEqual({ name, faults: {} });
    }
    expect(problems).toEqual([]);
  });

  test('before login', async () => {
    const { page } = await site.open();
    await page.getByLabel('Token').waitFor();
    expect(await faultsInVariants(page, 'sign in')).toEqual({});
  });
});
