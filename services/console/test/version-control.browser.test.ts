/**
 * Version control in the console.
 *
 * | page | shows | does |
 * | --- | --- | --- |
 * | version control of an organization | the connected providers | connects one, deletes one |
 * | a provider with a key pair | whether it is authorized, its keys | authorizes at the provider, chooses the SSH key |
 * | settings of a workspace | repository, branch, triggers, the problem with it, deliveries | connects, changes the triggers, disconnects |
 * | run | commit, branch, sender, links to the provider | |
 */
import { createHmac } from 'node:crypto';
import {
  publicAddress,
  type RepositoryServer,
  startLinkedServer,
  startRepositoryServer,
} from '@keelson/testkit';
import type { JsonObject } from '@keelson/testkit/planned-run';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { confirm } from './confirm.ts';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { expectOneFieldToChange } from './edit-walk.ts';

const site = useConsole({
  env: {
    KEELSON_OUTBOUND_RANGES: '127.0.0.1',
    // Where the provider sends deliveries, and the person who has authorized a client.
    ...(await publicAddress()),
  },
});
const O = 'organizations/acme';
let server: RepositoryServer;
const secret = Promise.withResolvers<string>();

const create = (type: string, attributes: object): object => ({ data: { type, attributes } });

beforeAll(async () => {
  server = await startRepositoryServer();
  server.answer = ({ body }) => {
    const config = body['config'] as { secret?: string } | undefined;
    if (config?.secret !== undefined) secret.resolve(config.secret);
    return { status: 201, body: { id: 7 } };
  };
  await server.commit('acme/network', { 'main.tf': '1' });
  await site.workspaces(
    'POST',
    'organizations',
    create('organizations', { name: 'acme', email: 'a@b.example' }),
  );
  const pool = await site.workspaces(
    'POST',
    `${O}/agent-pools`,
    create('agent-pools', { name: 'p' }),
  );
  await site.workspaces(
    'POST',
    `${O}/workspaces`,
    create('workspaces', {
      name: 'network',
      'execution-mode': 'agent',
      'agent-pool-id': pool.data.id,
      'queue-all-runs': true,
    }),
  );
}, PATIENCE_MS);
afterAll(() => server[Symbol.asyncDispose]());

const repositoryOf = async () =>
  (await site.workspaces('GET', `${O}/workspaces/network`)).data.attributes;

describe('version control', { timeout: PATIENCE_MS }, () => {
  test('connects a provider and a workspace, shows pushes and their commits, and disconnects', async () => {
    const { page, problems } = await site.openSignedIn('/app/acme/version-control');

    await confirm(page, 'Connect a provider', 'Connect', async (dialog) => {
      expect(await dialog.getByLabel('Address', { exact: true }).inputValue()).toBe(
        'https://github.com',
      );
      await dialog.locator('select[name=provider]').selectOption('GitHub Enterprise');
      await dialog.getByLabel('Name').fill('our forge');
      await dialog.getByLabel('Address', { exact: true }).fill(server.url);
      await dialog.getByLabel('Address of the API').fill(`${server.url}/api`);
      await dialog.getByLabel('Access token').fill('token-of-the-provider');
    });
    await page.getByRole('rowheader', { name: 'our forge' }).waitFor();
    await confirm(page, 'Connect a provider', 'Connect', async (dialog) => {
      await dialog.locator('select[name=provider]').selectOption('Gitea');
      await dialog.getByLabel('Name').fill('private forge');
      await dialog.getByLabel('Address', { exact: true }).fill('https://forge.example');
      await dialog.getByLabel('Address of the API').fill('https://forge.example/api/v1');
      await dialog.getByLabel('The provider is reached by').selectOption('p');
      await dialog.getByLabel('Access token').fill('token-of-the-provider');
    });
    const reached = page.getByRole('row', { name: /private forge/ });
    await reached.getByText('agents of a pool').waitFor();
    await confirm(page, 'Delete private forge', 'Delete it', (dialog) =>
      dialog.getByLabel('to go on').fill('private forge'),
    );
    await reached.waitFor({ state: 'detached' });

    await page.goto(`${site.origin()}/app/acme/workspaces/network?tab=settings`);
    await confirm(page, 'Connect a repository', 'Connect', async (dialog) => {
      await dialog.getByLabel('Provider').selectOption('our forge');
      await dialog.getByLabel('Repository').fill('acme/network');
      await dialog.getByLabel('Runs are started by').selectOption('patterns');
      await dialog.getByLabel('Paths').fill('modules/**\n*.tf');
    });
    await page.getByRole('link', { name: 'acme/network' }).waitFor();
    expect(await repositoryOf()).toMatchObject({
      'file-triggers-enabled': true,
      'trigger-patterns': ['modules/**', '*.tf'],
      'vcs-repo': { identifier: 'acme/network', branch: '' },
    });
    await confirm(page, 'Change the repository', 'Save', async (dialog) => {
      await dialog.getByLabel('Branch (empty').fill('main');
      await dialog.getByLabel('Runs are started by').selectOption('tags');
      await dialog.getByLabel('Regular expression').fill('^v');
    });
    await page.getByText('tags that match').first().waitFor();
    expect(await repositoryOf()).toMatchObject({
      'trigger-patterns': [],
      'vcs-repo': { branch: 'main', 'tags-regex': '^v' },
    });
    await confirm(page, 'Change the repository', 'Save', (dialog) =>
      dialog.getByLabel('Runs are started by').selectOption('always'),
    );
    await page.getByText('every push to the branch').first().waitFor();

    // The connection fetches the branch and starts a run, as does the change of the branch. A push of a commit
    // that one of them has fetched would start none.
    const { id } = (await site.workspaces('GET', `${O}/workspaces/network`)).data;
    await site.until(`workspaces/${id}/runs`, ({ data }) => data.length === 2 || undefined);
    const commit = await server.commit('acme/network', { 'main.tf': '2' });
    const hook = new URL((await repositoryOf())['vcs-repo']['webhook-url']).pathname;
    const payload = JSON.stringify({
      ref: 'refs/heads/main',
      before: '0'.repeat(40),
      after: commit,
      compare: 'https://forge.example/compare',
      sender: { login: 'ada', avatar_url: null, html_url: 'javascript:alert(1)' },
    });
    const signature = createHmac('sha256', await secret.promise)
      .update(payload)
      .digest('hex');
    const answer = await fetch(`${site.origin()}${hook}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-github-delivery': 'one',
        'x-hub-signature-256': `sha256=${signature}`,
      },
      body: payload,
    });
    expect(answer.status).toBe(202);
    await page.reload();
    await page
      .getByRole('table', { name: 'Deliveries' })
      .getByRole('rowheader', { name: 'push' })
      .waitFor();

    const runOfPush = ({ data, included }: JsonObject): string | undefined => {
      const relatedTo = (wanted: JsonObject, name: string) => (one: JsonObject) =>
        one.relationships[name]?.data?.id === wanted?.id;
      const ingress = included?.find(
        (one: JsonObject) => one.attributes['sender-username'] === 'ada',
      );
      const version =
        ingress &&
        included
          .filter(({ type }: JsonObject) => type === 'configuration-versions')
          .find(relatedTo(ingress, 'ingress-attributes'));
      return version && data.find(relatedTo(version, 'configuration-version'))?.id;
    };
    const run = await site.until(
      `workspaces/${id}/runs?include=configuration_version,configuration_version.ingress_attributes`,
      runOfPush,
    );
    await page.goto(`${site.origin()}/app/acme/network/runs/${run}`);
    const facts = page
      .locator('.card')
      .filter({ has: page.getByRole('heading', { name: 'Commit' }) });
    await facts.getByRole('link', { name: commit.slice(0, 8) }).waitFor();
    await facts.getByText('ada').waitFor();
    expect(await facts.getByRole('link', { name: 'ada' }).count()).toBe(0);

    await page.goto(`${site.origin()}/app/acme/workspaces/network?tab=settings`);
    await confirm(page, 'Disconnect', 'Disconnect it');
    await page.getByText('It follows no repository').waitFor();
    await page.goto(`${site.origin()}/app/acme/version-control`);
    await confirm(page, 'Delete our forge', 'Delete it', (dialog) =>
      dialog.getByLabel('to go on').fill('our forge'),
    );
    await page.getByText('No provider is connected').waitFor();
    expect(problems).toEqual([]);
  });

  test('authorizes a key pair at its provider, and chooses the SSH key', async () => {
    await using link = await startLinkedServer();
    await site.workspaces(
      'POST',
      `${O}/ssh-keys`,
      create('ssh-keys', { name: 'of the account', value: '-----BEGIN PRIVATE KEY-----' }),
    );
    const { page, problems } = await site.openSignedIn('/app/acme/version-control');
    await confirm(page, 'Connect a provider', 'Connect', async (dialog) => {
      await dialog.locator('select[name=provider]').selectOption('Bitbucket Data Center');
      await dialog.getByLabel('Name').fill('linked');
      await dialog.getByLabel('Address', { exact: true }).fill(link.url);
      await dialog.getByLabel('Address of the API').fill(link.url);
      await dialog.getByLabel('Authorized with').selectOption('key pair');
      await dialog.getByLabel('Consumer key').fill(link.consumerKey);
      await dialog.getByLabel('Private key').fill(link.privateKey);
      await dialog.getByLabel('Public key').fill(link.publicKey);
    });
    await page
      .getByRole('row', { name: /linked/ })
      .getByText('not authorized yet')
      .waitFor();
    await page.getByRole('link', { name: 'linked' }).click();
    await page.getByText('not authorized at the provider yet').waitFor();
    expect(await page.locator('pre').textContent()).toBe(link.publicKey);

    // The provider's page sends the browser back at once.
    await confirm(page, 'Authorize', 'Go to the provider', () => Promise.resolve());
    await page.getByRole('heading', { name: 'The provider has sent you back' }).waitFor();
    await confirm(page, 'Complete', 'Complete', () => Promise.resolve());
    await page.getByText('connected', { exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('');
    expect(link.accessTokens.size).toBe(1);
    await confirm(page, 'Choose the SSH key', 'Save', (dialog) =>
      dialog.getByLabel('SSH key').selectOption('of the account'),
    );
    await page.locator('dl').getByText('yes', { exact: true }).waitFor();

    const { data } = await site.workspaces('GET', `${O}/oauth-clients`);
    const refused = `${new URL(page.url()).pathname}?oauth_token=a&oauth_verifier=denied`;
    await page.goto(`${site.origin()}${refused}`);
    await page.getByText('The access was refused at the provider.').waitFor();
    await site.workspaces('DELETE', `oauth-clients/${data[0].id}`);
    expect(problems).toEqual([]);
  });

  test('keeps what was not touched of a connection and of a provider', async () => {
    const add = async (path: string, type: string, attributes: object): Promise<JsonObject> =>
      (await site.workspaces('POST', `${O}/${path}`, create(type, attributes))).data;
    const client = await add('oauth-clients', 'oauth-clients', {
      'service-provider': 'github',
      'http-url': server.url,
      'api-url': `${server.url}/api`,
      'oauth-token-string': 'token',
    });
    const token = client.relationships['oauth-tokens'].data[0].id;
    const repository = { identifier: 'acme/network', 'oauth-token-id': token };
    const workspace = await add('workspaces', 'workspaces', {
      name: 'followed',
      'working-directory': 'live',
      'vcs-repo': repository,
    });
    const value = '-----BEGIN PRIVATE KEY-----';
    const { id: key } = await add('ssh-keys', 'ssh-keys', { name: 'of the provider', value });
    const { page, problems } = await site.openSignedIn('/app');
    await expectOneFieldToChange(site, page, {
      form: 'repository',
      at: '/app/acme/workspaces/followed?tab=settings',
      button: 'Change the repository',
      path: `api/v2/workspaces/${workspace.id}`,
      field: 'Branch (empty: the default branch)',
      values: ['main', 'next', 'other'],
      stored: (branch) => ({ 'vcs-repo': { branch } }),
      meanwhile: {
        'vcs-repo': { branch: 'main', 'ingress-submodules': true },
        'file-triggers-enabled': true,
        'trigger-patterns': ['modules/**'],
      },
      write: (members) => {
        const { 'vcs-repo': changed, ...others } = members as JsonObject;
        const attributes = { ...others, 'vcs-repo': { ...repository, ...changed } };
        return site.workspaces(
          'PATCH',
          `workspaces/${workspace.id}`,
          create('workspaces', attributes),
        );
      },
    });
    await expectOneFieldToChange(site, page, {
      form: 'ssh-key',
      at: `/app/acme/version-control/${client.id}`,
      button: 'Choose the SSH key',
      path: `api/v2/oauth-tokens/${token}`,
      field: 'SSH key',
      values: ['', key],
      // The API does not tell which key it is.
      stored: (id) => ({ 'has-ssh-key': id !== '' }),
      write: () => {
        const relationships = { 'ssh-key': { data: null } };
        const data = { type: 'oauth-tokens', attributes: {}, relationships };
        return site.workspaces('PATCH', `oauth-tokens/${token}`, { data });
      },
    });
    await site.workspaces('DELETE', `workspaces/${workspace.id}`);
    await site.workspaces('DELETE', `oauth-clients/${client.id}`);
    await site.workspaces('DELETE', `ssh-keys/${key}`);
    expect(problems).toEqual([]);
  });

  test('shows why a repository cannot be reached', async () => {
    const made = await site.workspaces(
      'POST',
      `${O}/oauth-clients`,
      create('oauth-clients', {
        'service-provider': 'github',
        'http-url': server.url,
        'api-url': `${server.url}/api`,
        'oauth-token-string': 'token',
      }),
    );
    await site.workspaces(
      'POST',
      `${O}/workspaces`,
      create('workspaces', {
        name: 'lost',
        'vcs-repo': {
          identifier: 'acme/missing',
          'oauth-token-id': made.data.relationships['oauth-tokens'].data[0].id,
        },
      }),
    );
    const { page } = await site.openSignedIn('/app/acme/workspaces/lost?tab=settings');
    const card = page
      .locator('.card')
      .filter({ has: page.getByRole('heading', { name: 'Repository' }) });
    await card.getByRole('alert').waitFor();
    expect(await card.getByRole('alert').textContent()).toMatch(/repository|not found/i);
  });
});
