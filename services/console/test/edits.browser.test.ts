/** Every form that edits something: it stores the field that was changed, and nothing else. And addresses in namespaces. */
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@keelson/testkit';
import { addPlannedRun, type JsonObject } from '@keelson/testkit/planned-run';
import { compile } from 'json-schema-to-typescript';
import { beforeAll, describe, expect, test } from 'vitest';
import { confirm } from './confirm.ts';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { type EditedThing, expectOneFieldToChange } from './edit-walk.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();
const O = 'organizations/acme';
const BRANCH = 'branch';

const create = (type: string, attributes: object, relationships?: object): object => ({
  data: { type, attributes, ...(relationships && { relationships }) },
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const messageIds = new Map<string, string>();

const MESSAGE = {
  title: 'Maintenance',
  message: base64('From ten to twelve.'),
  authenticated: true,
  type: 'banner',
  start_time: '2031-01-01T00:00:30Z',
  end_time: '2032-01-01T00:00:30Z',
  link: { Plan: 'https://status.example/' },
  options: { colour: 'red' },
};

/** Fills a namespace with an authority and its role, a policy and a message. */
const fillNamespace = async (namespace: string): Promise<void> => {
  await site.secrets('sys/mounts/pki', { type: 'pki' }, namespace);
  const root = { common_name: 'Root', key_type: 'ec' };
  await site.secrets('pki/root/generate/internal', root, namespace);
  await site.secrets(
    'pki/roles/web',
    {
      allowed_domains: ['a.example'],
      max_ttl: '100h',
      key_type: 'ec',
      key_bits: 384,
      country: ['DE'],
      allowed_uri_sans: ['spiffe://a.example/*'],
    },
    namespace,
  );
  await site.secrets('pki/config/crl', { expiry: '60h', ocsp_expiry: '6h' }, namespace);
  await site.secrets(
    'pki/config/auto-tidy',
    {
      enabled: true,
      interval_duration: '24h',
      safety_buffer: '2160h',
      tidy_cert_store: false,
      tidy_acme: true,
    },
    namespace,
  );
  await site.secrets('pki/config/cluster', { path: `${site.origin()}/v1/pki` }, namespace);
  await site.secrets('pki/config/acme', { enabled: true }, namespace);
  const rules = 'path "pki/*" { capabilities = ["read"] }';
  await site.secrets('sys/policies/acl/issuer', { policy: rules }, namespace);
  const made = await site.secrets('sys/config/ui/custom-messages', MESSAGE, namespace);
  messageIds.set(namespace, made.data.id);
};

/** Things of the secrets service, which every namespace has. */
const secretThings = (namespace: string): readonly EditedThing[] => [
  {
    form: 'role',
    at: '/ui/certificates/pki?tab=roles',
    button: 'Edit web',
    path: 'v1/pki/roles/web',
    field: 'Domains, separated by commas',
    values: ['a.example', 'b.example', 'c.example'],
    stored: (domain) => ({ allowed_domains: [domain] }),
    meanwhile: { max_ttl: 3600, client_flag: false, country: ['FR'] },
    write: (members) => site.patchSecret('pki/roles/web', members, namespace),
  },
  {
    form: 'revocation-rules',
    at: '/ui/certificates/pki?tab=settings',
    button: 'Change the rules',
    path: 'v1/pki/config/crl',
    field: 'A list is valid for',
    values: ['60h', '48h', '50h'],
    stored: (expiry) => ({ expiry }),
    meanwhile: { auto_rebuild: true, enable_delta: true, ocsp_expiry: '7h' },
  },
  {
    form: 'tidy-intervals',
    at: '/ui/certificates/pki?tab=settings',
    button: 'Change the intervals',
    path: 'v1/pki/config/auto-tidy',
    field: 'Every',
    values: ['24h', '6h', '8h'],
    stored: (interval) => ({ interval_duration: Number.parseInt(interval, 10) * 3600 }),
    meanwhile: { safety_buffer: '2000h', tidy_revoked_certs: true },
  },
  {
    form: 'account-keys',
    at: '/ui/certificates/pki?tab=settings',
    button: 'Change when they are required',
    path: 'v1/pki/config/acme',
    field: 'Rule',
    values: ['not-required', 'always-required', 'new-account-required'],
    stored: (policy) => ({ eab_policy: policy }),
    meanwhile: { allow_role_ext_key_usage: true },
  },
  {
    form: 'addresses',
    at: '/ui/certificates/pki?tab=settings',
    button: 'Change the addresses',
    path: 'v1/pki/config/urls',
    field: 'Revocation list (one address on each line)',
    values: ['http://a.example/crl', 'http://b.example/crl', 'http://c.example/crl'],
    stored: (address) => ({ crl_distribution_points: [address] }),
    meanwhile: { ocsp_servers: ['http://a.example/ocsp'], enable_templating: true },
  },
  {
    form: 'mount',
    at: '/ui/mounts',
    button: 'Tune pki',
    path: 'v1/sys/mounts/pki/tune',
    field: 'Description',
    values: ['', 'of the shop', 'of the house'],
    stored: (description) => ({ description }),
    meanwhile: { max_lease_ttl: 360_000, allowed_response_headers: ['Link'] },
  },
  {
    form: 'policy',
    at: '/ui/policies/issuer',
    path: 'v1/sys/policies/acl/issuer',
    field: 'Rules',
    values: ['read', 'update', 'list'].map(
      (capability) => `path "pki/*" { capabilities = ["${capability}"] }`,
    ) as [string, string, string],
    stored: (policy) => ({ policy }),
  },
  {
    form: 'message',
    at: '/ui/messages',
    button: 'Edit Maintenance',
    isOnPage: true,
    path: `v1/sys/config/ui/custom-messages/${messageIds.get(namespace)}`,
    field: /^Title\b/,
    values: ['Maintenance', 'Maintenance of the database', 'Maintenance tonight'],
    stored: (title) => ({ title }),
    meanwhile: { type: 'modal', end_time: '2033-01-01T00:00:30Z' },
    write: (members) =>
      site.secrets(
        `sys/config/ui/custom-messages/${messageIds.get(namespace)}`,
        { ...MESSAGE, ...members },
        namespace,
      ),
  },
];

const ids = {
  workspace: '',
  project: '',
  pool: '',
  team: '',
  access: '',
  set: '',
  own: '',
  shared: '',
};

const SECRET_VARIABLE = { key: 'db_password', value: 'a-secret-of-21-letters', sensitive: true };

const fillOrganization = async (): Promise<void> => {
  const add = async (path: string, type: string, attributes: object, relationships?: object) =>
    (await site.workspaces('POST', path, create(type, attributes, relationships))).data.id;
  await add('organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  ids.workspace = await add(`${O}/workspaces`, 'workspaces', {
    name: 'network',
    description: 'the wires',
    'terraform-version': '1.9.8',
  });
  ids.project = await add(`${O}/projects`, 'projects', { name: 'Web' });
  ids.pool = await add(`${O}/agent-pools`, 'agent-pools', { name: 'shed' });
  ids.team = await add(`${O}/teams`, 'teams', {
    name: 'builders',
    'organization-access': { 'manage-modules': true, 'manage-run-tasks': true },
  });
  ids.access = await add(
    'team-workspaces',
    'team-workspaces',
    { access: 'custom', runs: 'apply', variables: 'write', 'workspace-locking': true },
    {
      team: { data: { type: 'teams', id: ids.team } },
      workspace: { data: { type: 'workspaces', id: ids.workspace } },
    },
  );
  ids.own = await add(`workspaces/${ids.workspace}/vars`, 'vars', {
    ...SECRET_VARIABLE,
    category: 'terraform',
  });
  ids.set = await add(`${O}/varsets`, 'varsets', { name: 'shared', global: true });
  ids.shared = await add(`varsets/${ids.set}/relationships/vars`, 'vars', {
    ...SECRET_VARIABLE,
    category: 'terraform',
  });
};

const workspaceThings = (): readonly EditedThing[] => [
  {
    form: 'variable',
    at: '/app/acme/workspaces/network?tab=variables',
    button: 'Edit db_password',
    path: `api/v2/workspaces/${ids.workspace}/vars/${ids.own}`,
    field: 'Description (optional)',
    values: ['', 'a clearer text', 'another text'],
    stored: (description) => ({ description }),
    meanwhile: { hcl: true },
  },
  {
    form: 'variable',
    at: '/app/acme/variable-sets',
    button: 'Edit db_password',
    path: `api/v2/varsets/${ids.set}/relationships/vars/${ids.shared}`,
    field: 'Description (optional)',
    values: ['', 'a clearer text', 'another text'],
    stored: (description) => ({ description }),
    meanwhile: { hcl: true },
  },
  {
    form: 'variable-set',
    at: '/app/acme/variable-sets',
    button: 'Edit shared',
    path: `api/v2/varsets/${ids.set}`,
    field: 'Description (optional)',
    values: ['', 'of all', 'of everything'],
    stored: (description) => ({ description }),
    meanwhile: { priority: true },
  },
  {
    form: 'agent-pool',
    at: '/app/acme/agent-pools',
    button: 'Edit shed',
    path: `api/v2/agent-pools/${ids.pool}`,
    field: /^What alone runs may reach/,
    values: ['', 'registry.example.com', '10.1.0.0/16'],
    stored: (entry) => ({ 'allowed-egress': entry === '' ? null : [entry] }),
    meanwhile: { 'organization-scoped': false },
  },
  {
    form: 'project',
    at: '/app/acme/projects',
    button: 'Edit Web',
    path: `api/v2/projects/${ids.project}`,
    field: 'Description (optional)',
    values: ['', 'the shop', 'the house'],
    stored: (description) => ({ description }),
    meanwhile: { 'auto-destroy-activity-duration': '14d' },
  },
  {
    form: 'workspace',
    at: '/app/acme/workspaces/network?tab=settings',
    save: 'Save settings',
    path: `api/v2/workspaces/${ids.workspace}`,
    field: 'Description',
    values: ['the wires', 'the cables', 'the switches'],
    stored: (description) => ({ description }),
    meanwhile: {
      'auto-apply': true,
      'terraform-version': '1.9.7',
      'working-directory': 'live/prod',
      'global-remote-state': true,
    },
  },
  {
    form: 'team-rights',
    at: `/app/acme/teams/${ids.team}`,
    button: 'Change the rights',
    path: `api/v2/teams/${ids.team}`,
    field: 'agent pools',
    values: ['false', 'true'],
    stored: (given) => ({ 'organization-access': { 'manage-agent-pools': given === 'true' } }),
    meanwhile: { 'organization-access': { 'manage-vcs-settings': true } },
  },
  {
    form: 'team-access',
    at: '/app/acme/workspaces/network?tab=settings',
    button: 'Change the access of builders',
    path: `api/v2/team-workspaces/${ids.access}`,
    field: /^States/,
    values: ['none', 'read', 'write'],
    stored: (states) => ({ 'state-versions': states }),
    meanwhile: { runs: 'plan', 'workspace-locking': false },
  },
];

beforeAll(async () => {
  await site.secrets(`sys/namespaces/${BRANCH}`, {});
  await fillNamespace('');
  await fillNamespace(BRANCH);
  await fillOrganization();
}, PATIENCE_MS);

/** Attributes of each type of resource, by the type, as TypeScript. */
const attributeTypes = async (): Promise<string> => {
  const answer = await fetch(`${site.origin()}/openapi/workspace.json`);
  const { components } = (await answer.json()) as { components: { schemas: JsonObject } };
  const types = Object.values<JsonObject>(components.schemas)
    .map(({ properties = {} }) => [properties.type?.enum?.[0], properties.attributes])
    .filter(([type, attributes]) => type !== undefined && attributes !== undefined);
  const properties = Object.fromEntries(types);
  const resources = { type: 'object', required: Object.keys(properties), properties, components };
  // Neither descriptions nor the number of elements belong to the types.
  const plain = JSON.parse(JSON.stringify(resources), (name, value) =>
    ['minItems', 'maxItems'].includes(name) || (name === 'description' && typeof value === 'string')
      ? undefined
      : value,
  );
  return compile(plain, 'ResourceAttributes', {
    additionalProperties: false,
    bannerComment:
      '/** The attributes of the resources of the workspace API, by type. Written by `npx vitest run --project release-console services/console/test/edits -t types -u`. */',
    style: { singleQuote: true, printWidth: 100, trailingComma: 'all' },
  });
};

test('the types of the pages are those of the API', async () => {
  await expect(await attributeTypes()).toMatchFileSnapshot(
    '../src/browser/api/resource-attributes.ts',
  );
});

describe('an edited thing', { timeout: PATIENCE_MS * 2 }, () => {
  test.for(['', BRANCH])('keeps what was not touched, in the namespace "%s"', async (namespace) => {
    const { page, problems } = await site.openSignedIn('/ui/', { namespace });
    for (const thing of secretThings(namespace))
      await expectOneFieldToChange(site, page, thing, namespace);
    expect(problems).toEqual([]);
  });

  test('is edited in a panel at the right edge, which fills a telephone', async () => {
    const { page, problems } = await site.openSignedIn('/ui/certificates/pki?tab=roles');
    const edit = page.getByRole('button', { name: 'Edit web' });
    const panel = page.getByRole('dialog', { name: 'Edit the role web' });
    const save = panel.getByRole('button', { name: 'Save' });
    const sizes = [
      { width: 1280, height: 800 },
      { width: 360, height: 640 },
    ];
    for (const viewport of sizes) {
      await page.setViewportSize(viewport);
      await edit.click();
      const { x = 0, y, width = 0, height } = (await panel.boundingBox()) ?? {};
      // The backdrop ends where the scrollbar of the page begins.
      const behind = await page.locator('.modal-backdrop').boundingBox();
      expect({ right: x + width, y, height }).toEqual({
        right: behind?.width,
        y: 0,
        height: viewport.height,
      });
      expect(x === 0).toBe(viewport.width === 360);
      // A long form can be saved without scrolling to its end.
      const { y: top = Infinity } = (await save.boundingBox()) ?? {};
      expect(top).toBeLessThan(viewport.height);
      await page.keyboard.press('Escape');
      await edit.and(page.locator(':focus')).waitFor();
    }
    expect(problems).toEqual([]);
  });

  test('keeps a value that it does not show, unless a person replaces or empties it', async () => {
    const { runId, workspaceId, claim } = await addPlannedRun(site, 'secretive');
    for (const key of ['kept', 'replaced', 'emptied'])
      await site.workspaces(
        'POST',
        `workspaces/${workspaceId}/vars`,
        create('vars', { key, value: 'a secret', category: 'terraform', sensitive: true }),
      );
    const { page, problems } = await site.openSignedIn(
      '/app/acme/workspaces/secretive?tab=variables',
    );
    await confirm(page, 'Edit kept', 'Save', (dialog) =>
      dialog.getByLabel('Description').fill('a clearer text'),
    );
    await confirm(page, 'Edit replaced', 'Save', (dialog) =>
      dialog.getByLabel(/^Value/).fill('another secret'),
    );
    await confirm(page, 'Edit emptied', 'Save', (dialog) =>
      dialog.getByLabel('Set it to the empty text').check(),
    );
    await site.workspaces('POST', `runs/${runId}/actions/apply`, {});
    const { variables } = (await claim()).attributes;
    const values = variables.map(({ key, value }: JsonObject) => [key, value]);
    expect(Object.fromEntries(values)).toMatchObject({
      kept: 'a secret',
      replaced: 'another secret',
      emptied: '',
    });
    expect(problems).toEqual([]);
  });

  test('leaves what somebody else has stored in the same field, if the person says so', async () => {
    const { page } = await site.openSignedIn('/app/acme/projects');
    const path = `projects/${ids.project}`;
    const store = (description: string): Promise<unknown> =>
      site.workspaces('PATCH', path, create('projects', { description }));
    await page.getByRole('button', { name: 'Edit Web' }).click();
    const dialog = page.getByRole('dialog');
    const description = dialog.getByLabel('Description (optional)');
    await description.fill('mine');
    await store('theirs');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const conflict = dialog.getByRole('group', { name: 'Changed by somebody else meanwhile' });
    await conflict.getByLabel('Theirs: theirs').check();
    expect(await description.inputValue()).toBe('mine');
    expect(await faultsInVariants(page, 'conflict of two edits')).toEqual({});
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').getByText('Nothing was changed.').waitFor();
    const { data } = await site.workspaces('GET', path);
    expect(data.attributes.description).toBe('theirs');
  });

  test('keeps what was not touched, in an organization', async () => {
    const { page, problems } = await site.openSignedIn('/app');
    for (const thing of workspaceThings()) await expectOneFieldToChange(site, page, thing);
    expect(problems).toEqual([]);
  });

  test('writes the addresses of its namespace into certificates, and tells them to ACME clients', async () => {
    await using folder = await temporaryDirectory();
    for (const namespace of ['', BRANCH]) {
      await site.secrets('sys/mounts/regional', { type: 'pki' }, namespace);
      const root = { common_name: `Root of ${namespace || 'all'}`, key_type: 'ec' };
      await site.secrets('regional/root/generate/internal', root, namespace);
    }
    await site.secrets('regional/roles/web', { allow_any_name: true }, BRANCH);
    const { page, problems } = await site.openSignedIn('/ui/certificates/regional?tab=settings', {
      namespace: BRANCH,
    });
    const address = `${site.origin()}/v1/${BRANCH}/regional`;
    await confirm(page, 'Use the addresses of this server', 'Use them');
    await confirm(page, 'Switch it on', 'Switch it on');
    await page.getByText(`--server ${address}/acme/directory`).first().waitFor();
    await page.getByText(`${address}/crl`, { exact: true }).last().waitFor();

    const { data } = await site.secrets(
      'regional/issue/web',
      { common_name: 'a.example', ttl: '1h' },
      BRANCH,
    );
    const issued = new X509Certificate(data.certificate);
    const fileOf = async (name: string, url: string): Promise<string> => {
      const path = join(folder.path, name);
      await writeFile(path, Buffer.from(await (await fetch(url)).arrayBuffer()));
      return path;
    };
    const openssl = async (...args: readonly string[]): Promise<string> => {
      const { stdout, stderr } = await promisify(execFile)('openssl', args);
      return stdout + stderr;
    };
    const [ocsp = '', caIssuers = ''] = ['OCSP - URI:', 'CA Issuers - URI:'].map((kind) =>
      issued.infoAccess
        ?.split('\n')
        .find((line) => line.startsWith(kind))
        ?.slice(kind.length),
    );
    const issuer = await fileOf('issuer.der', caIssuers);
    const certificate = join(folder.path, 'certificate.pem');
    await writeFile(certificate, data.certificate);
    expect(issued.verify(new X509Certificate(await readFile(issuer)).publicKey)).toBe(true);
    const text = await openssl('x509', '-in', certificate, '-noout', '-text');
    const [, crl = ''] = /CRL Distribution Points:\s+Full Name:\s+URI:(\S+)/.exec(text) ?? [];
    const list = await fileOf('list.crl', crl);
    const pem = join(folder.path, 'issuer.pem');
    await openssl('x509', '-inform', 'der', '-in', issuer, '-out', pem);
    expect(await openssl('crl', '-in', list, '-CAfile', pem, '-noout')).toContain('verify OK');
    expect(
      await openssl('ocsp', '-issuer', pem, '-cert', certificate, '-url', ocsp, '-CAfile', pem),
    ).toContain(`${certificate}: good`);

    const directory = await (await fetch(`${address}/acme/directory`)).json();
    const nonce = await fetch((directory as { newNonce: string }).newNonce, { method: 'HEAD' });
    expect([nonce.status, nonce.headers.has('replay-nonce')]).toEqual([200, true]);
    expect(problems).toEqual([]);
  });
});
