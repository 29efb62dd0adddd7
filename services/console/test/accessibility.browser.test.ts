/**
 * Checks every page of the console, on desktop and phone, light and dark: accessibility with axe,
 * and no horizontal overflow.
 */
import { join } from 'node:path';
import type { Page } from '@keelson/testkit/chromium';
import axe from 'axe-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { addPlannedRun } from './planned-run.ts';

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
}, PATIENCE_MS);

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

const DESKTOP = { width: 1280, height: 800 };
const TELEPHONE = { width: 360, height: 740 };

const VARIANTS = [
  { name: 'desktop-light', viewport: DESKTOP, colorScheme: 'light', isKept: true },
  { name: 'desktop-dark', viewport: DESKTOP, colorScheme: 'dark', isKept: false },
  { name: 'telephone-light', viewport: TELEPHONE, colorScheme: 'light', isKept: false },
  { name: 'telephone-dark', viewport: TELEPHONE, colorScheme: 'dark', isKept: true },
] as const;

/** Screenshots of the pages for manual review; not part of the repository. */
const PICTURES = join(import.meta.dirname, '..', 'test-pictures');

/** The faults of the displayed page: violations, and whether it scrolls sideways. */
const faultsOf = async (page: Page): Promise<readonly string[]> => {
  // Evaluated instead of added as a script, which the page's content security policy would refuse.
  await page.evaluate(axe.source);
  const found = await page.evaluate<Violation[]>(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
  );
  const overhang = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  return [
    ...found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`),
    ...(overhang > 0 ? [`overhangs by ${overhang} pixels`] : []),
  ];
};

describe('every page', { timeout: PATIENCE_MS * 2 }, () => {
  test('on a desktop and a telephone, light and dark', async () => {
    const { page, problems } = await site.openSignedIn('/ui/');
    for (const [name, path] of pages) {
      await page.goto(site.origin() + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
      for (const { name: variant, viewport, colorScheme, isKept } of VARIANTS) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        expect({ name, variant, faults: await faultsOf(page) }).toEqual({
          name,
          variant,
          faults: [],
        });
        const picture = join(PICTURES, `${name.replaceAll(' ', '-')}-${variant}.png`);
        if (isKept) await page.screenshot({ path: picture, fullPage: true });
      }
    }
    expect(problems).toEqual([]);
  });

  test('before login', async () => {
    const { page } = await site.open();
    await page.getByLabel('Token').waitFor();
    expect(await faultsOf(page)).toEqual([]);
  });
});
