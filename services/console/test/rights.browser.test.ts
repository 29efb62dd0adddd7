/**
 * No page offers an action that the caller may not perform.
 *
 * | caller | pages | offered |
 * | --- | --- | --- |
 * | a user whose team reads all workspaces and projects | of the organization and a workspace | nothing that changes anything |
 * | a user whose team writes the variable sets of one project | variable sets | changing the sets of that project, and no others |
 * | a token whose policy reads everything | certificates, administration | nothing that changes anything |
 * | a token whose policy allows two of the replication actions | replication | those two |
 * | a token whose policy allows everything but `sudo` | overview, audit devices | neither sealing nor devices, which need it |
 */
import type { Page } from '@keelson/testkit/chromium';
import { addPlannedRun } from '@keelson/testkit/planned-run';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, signIn, useConsole } from './console-harness.ts';
import { watchRequests } from './settled.ts';

const site = useConsole();
const O = 'organizations/acme';
let runId = '';

const create = (type: string, attributes: object, relationships?: object): object => ({
  data: { type, attributes, ...(relationships && { relationships }) },
});

const addTeam = async (name: string, rights: Readonly<Record<string, boolean>> = {}) =>
  (
    await site.workspaces(
      'POST',
      `${O}/teams`,
      create('teams', { name, 'organization-access': rights }),
    )
  ).data.id as string;

const addToken = async (name: string, rules: string): Promise<string> => {
  await site.secrets(`sys/policies/acl/${name}`, { policy: rules });
  const made = await site.secrets('auth/token/create', { policies: [name] });
  return made.auth.client_token;
};

beforeAll(async () => {
  const planned = await addPlannedRun(site, 'web');
  ({ runId } = planned);
  await site.workspaces(
    'POST',
    `workspaces/${planned.workspaceId}/vars`,
    create('vars', { key: 'region', value: 'north', category: 'terraform' }),
  );
  await site.workspaces(
    'POST',
    `${O}/varsets`,
    create(
      'varsets',
      { name: 'regions', global: false },
      { workspaces: { data: [{ type: 'workspaces', id: planned.workspaceId }] } },
    ),
  );
  await site.secrets('sys/mounts/pki', { type: 'pki' });
  await site.secrets('pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' });
  await site.secrets('pki/roles/web', { allowed_domains: 'example.com', allow_subdomains: true });
}, PATIENCE_MS);

/** Names of buttons that only read; the revocation list is rebuilt by a GET request. */
const READING =
  /^(Commands$|Copy|Download|Take a snapshot$|Previous$|Next$|Compare|Search|Show|Look up|all$|Rebuild the list$|Export as |Hide these steps$)/;

/** Names of the buttons that remain when those that only read, filter or unfold are left out. */
const offeredOn = async (
  page: Page,
  settled: () => Promise<void>,
  path: string,
): Promise<readonly string[]> => {
  await page.goto(site.origin() + path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await settled();
  const names = await page
    .locator('main button:not([role=tab], .changes button, thead button)')
    .evaluateAll((buttons: { ariaLabel: string | null; textContent: string }[]) =>
      buttons.map((button) => button.ariaLabel ?? button.textContent),
    );
  return names.filter((name) => !READING.test(name));
};

/** Opens the pages in turn: each answers everything it asks, and none offers an action. */
const expectNothingOffered = async (page: Page, paths: readonly string[]): Promise<void> => {
  const settled = watchRequests(page);
  const offered: string[] = [];
  for (const path of paths) {
    const buttons = await offeredOn(page, settled, path);
    offered.push(...buttons.map((button) => `${path}: ${button}`));
    const refused = await page.getByRole('alert').allTextContents();
    expect({ path, refused }).toEqual({ path, refused: [] });
  }
  expect(offered).toEqual([]);
};

describe('what is offered', { timeout: PATIENCE_MS }, () => {
  test('to a user who reads the organization: nothing that changes it', async () => {
    const team = await addTeam('readers', { 'read-workspaces': true, 'read-projects': true });
    const token = await site.addUser('reader', team);
    const { page, problems } = await site.openSignedIn('/app', { workspaces: token });
    await expectNothingOffered(page, [
      '/app',
      '/app/acme/workspaces',
      '/app/acme/workspaces/web',
      '/app/acme/workspaces/web?tab=runs',
      '/app/acme/workspaces/web?tab=states',
      '/app/acme/workspaces/web?tab=variables',
      '/app/acme/workspaces/web?tab=settings',
      `/app/acme/web/runs/${runId}`,
      '/app/acme/projects',
      '/app/acme/teams',
      `/app/acme/teams/${team}`,
      '/app/acme/agent-pools',
      '/app/acme/variable-sets',
      '/app/acme/version-control',
    ]);
    expect(problems).toEqual([]);
  });

  test('to a team that writes the variable sets of one project: those sets alone', async () => {
    const team = await addTeam('varsetters');
    const { data: project } = await site.workspaces(
      'POST',
      `${O}/projects`,
      create('projects', { name: 'Web shop' }),
    );
    await site.workspaces(
      'POST',
      'team-projects',
      create(
        'team-projects',
        { access: 'custom', 'project-access': { settings: 'read', 'variable-sets': 'write' } },
        {
          team: { data: { type: 'teams', id: team } },
          project: { data: { type: 'projects', id: project.id } },
        },
      ),
    );
    await site.workspaces(
      'POST',
      `${O}/varsets`,
      create(
        'varsets',
        { name: 'of the shop', global: false },
        { parent: { data: { type: 'projects', id: project.id } } },
      ),
    );
    await site.workspaces(
      'POST',
      `${O}/varsets`,
      create('varsets', { name: 'of all', global: true }),
    );
    const token = await site.addUser('varsetter', team);
    const { page } = await site.openSignedIn('/app', { workspaces: token });
    const offered = await offeredOn(page, watchRequests(page), '/app/acme/variable-sets');
    expect(offered).toEqual([
      'Edit of the shop',
      'Delete of the shop',
      'Apply to a workspace: of the shop',
      'Add variable',
    ]);
  });

  test('to a token that reads everything: nothing that changes it', async () => {
    const token = await addToken(
      'reads',
      'path "*" { capabilities = ["read", "list", "sudo"] } path "auth/token/lookup-accessor" { capabilities = ["update"] } path "sys/leases/lookup" { capabilities = ["list", "sudo"] }',
    );
    const { page, problems } = await site.openSignedIn('/ui/', { secrets: token });
    await expectNothingOffered(page, [
      '/ui/',
      '/ui/messages',
      '/ui/replication',
      '/ui/policies',
      '/ui/policies/default',
      '/ui/tokens',
      '/ui/passkeys',
      '/ui/second-factors',
      '/ui/mounts',
      '/ui/audit',
      '/ui/snapshots',
      '/ui/namespaces',
      '/ui/leases',
      '/ui/certificates',
      '/ui/certificates/pki',
      '/ui/certificates/pki?tab=issuers',
      '/ui/certificates/pki?tab=keys',
      '/ui/certificates/pki?tab=roles',
      '/ui/certificates/pki?tab=est',
      '/ui/certificates/pki?tab=policy',
      '/ui/certificates/pki/issuer/default',
      '/ui/certificates/pki?tab=settings',
    ]);
    expect(problems).toEqual([]);
  });

  test('to a token without sudo: no sealing and no audit devices', async () => {
    const token = await addToken(
      'operates',
      'path "*" { capabilities = ["create", "read", "update", "delete", "list"] } path "sys/audit" { capabilities = ["read", "list", "sudo"] }',
    );
    const { page } = await site.openSignedIn('/ui/', { secrets: token });
    const settled = watchRequests(page);
    expect(await offeredOn(page, settled, '/ui/')).toEqual([]);
    expect(await offeredOn(page, settled, '/ui/audit')).toEqual([]);
    await page.goto(`${site.origin()}/ui/snapshots`);
    await page.getByText('may neither take nor restore').waitFor();
  });

  test('to a token that changes roles of replication in part: those actions alone', async () => {
    const token = await addToken(
      'founds',
      'path "sys/replication/performance/primary/enable" { capabilities = ["update"] } path "sys/replication/dr/secondary/enable" { capabilities = ["update"] }',
    );
    const { page } = await site.openSignedIn('/ui/', { secrets: token });
    const offered = await offeredOn(page, watchRequests(page), '/ui/replication');
    expect(offered).toEqual(['Become a primary', 'Become a secondary']);
    const performance = page.locator('.card').filter({ hasText: 'Performance' });
    expect(await performance.getByRole('button').allTextContents()).toEqual(['Become a primary']);
    // The server refuses in any case.
    const answer = await fetch(`${site.origin()}/v1/sys/replication/dr/primary/enable`, {
      method: 'POST',
      headers: { 'x-service-token': token },
      body: '{}',
    });
    expect(answer.status).toBe(403);
  });

  test('to a token that may only read an authority and issue by one role: that role, and nothing else', async () => {
    await site.secrets('sys/mounts/narrow', { type: 'pki' });
    await site.secrets('narrow/root/generate/internal', { common_name: 'N', key_type: 'ec' });
    await site.secrets('narrow/roles/web', {
      allowed_domains: 'example.com',
      allow_bare_domains: true,
      key_type: 'ec',
    });
    await site.secrets('sys/policies/acl/reader', {
      policy:
        'path "narrow/*" { capabilities = ["read", "list"] }\npath "narrow/issue/web" { capabilities = ["update"] }',
    });
    const { auth } = await site.secrets('auth/token/create', { policies: ['reader'] });
    const { page } = await site.open('/ui/certificates');
    await signIn(page, auth.client_token);
    await page.getByRole('link', { name: 'narrow', exact: true }).click();
    await page.getByRole('tab', { name: 'Roles' }).click();
    await page.getByRole('button', { name: 'Issue by web' }).waitFor();
    for (const name of ['Create role', 'Edit web', 'Delete web'])
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    // A right to issue is enough to do so.
    await site.secrets('sys/policies/acl/issuer', {
      policy: 'path "narrow/issue/web" { capabilities = ["update"] }',
    });
    const { auth: narrower } = await site.secrets('auth/token/create', { policies: ['issuer'] });
    const issuing = await site.openSignedIn('/ui/certificates/narrow?tab=roles', {
      secrets: narrower.client_token,
    });
    await issuing.page.getByLabel('Role', { exact: true }).fill('web');
    await issuing.page.getByLabel('Name of the certificate').fill('example.com');
    await issuing.page.getByRole('button', { name: 'Issue the certificate' }).click();
    await issuing.page.getByRole('status', { name: 'Issued' }).waitFor();
  });
});
