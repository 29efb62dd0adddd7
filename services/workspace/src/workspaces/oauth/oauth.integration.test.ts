import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarnessOf } from '../../../test/workspace-harness.ts';
import { loadRepository } from '../../vcs/providers/remote-repository-operations.ts';
import { oauthTokenRecords } from '../model/oauth-records.ts';

const O = '/organizations/acme';
const CONNECTION = {
  'service-provider': 'gitlab_hosted',
  'http-url': 'https://gitlab.example',
  'api-url': 'https://gitlab.example/api/v4',
  'oauth-token-string': 'glpat-secret',
  secret: 'client-secret',
  'private-key': 'private-secret',
};
let harness: Harness;
beforeAll(async () => {
  harness = await startHarnessOf('acme', 'globex');
});
afterAll(() => harness[Symbol.asyncDispose]());

const connect = async (organization = O) => {
  const client = await harness.create(`${organization}/oauth-clients`, 'oauth-clients', CONNECTION);
  const tokens = client.relationships['oauth-tokens']?.data as { id: string }[] | undefined;
  return { client, tokenId: tokens?.[0]?.id ?? '' };
};
const storedToken = async (tokenId: string) =>
  (await oauthTokenRecords.find(harness.store, tokenId))?.token;
const withRepository = (name: string, tokenId: string) =>
  harness.call('POST', `${O}/workspaces`, {
    data: {
      type: 'workspaces',
      attributes: { name, 'vcs-repo': { identifier: 'a/b', 'oauth-token-id': tokenId } },
    },
  });

describe('an OAuth client', () => {
  test('accepts a new token under the id of the previous one', async () => {
    const { client, tokenId } = await connect();
    const change = (attributes: object) =>
      harness.call('PATCH', `/oauth-clients/${client.id}`, {
        data: { type: 'oauth-clients', attributes },
      });
    expect((await change({ 'oauth-token-string': 'glpat-next-secret' })).data).toEqual(client);
    expect(await storedToken(tokenId)).toBe('glpat-next-secret');
    await change({ name: 'renamed' });
    expect(await storedToken(tokenId)).toBe('glpat-next-secret');
    const { status, errors } = await change({ 'oauth-token-string': '' });
    expect([status, errors[0]?.source?.pointer]).toEqual([
      422,
      '/data/attributes/oauth-token-string',
    ]);
  });

  test('never shows a secret', async () => {
    const { client, tokenId } = await connect();
    const replies = [
      client,
      await harness.call('GET', `/oauth-clients/${client.id}`),
      await harness.call('GET', `${O}/oauth-clients`),
      await harness.call('GET', `/oauth-tokens/${tokenId}`),
      await harness.call('GET', `${O}/oauth-tokens`),
    ];
    for (const reply of replies) expect(JSON.stringify(reply)).not.toMatch(/-secret/);
  });

  test('that is not organization-scoped can be used by its projects', async () => {
    const makeProject = async (name: string) =>
      (await harness.create(`${O}/projects`, 'projects', { name })).id;
    const [inside, outside] = [await makeProject('Inside'), await makeProject('Outside')];
    const identified = (id: string) => ({ data: [{ type: 'projects', id }] });
    const client = await harness.create(
      `${O}/oauth-clients`,
      'oauth-clients',
      { ...CONNECTION, 'organization-scoped': false },
      {
        relationships: {
          projects: { data: [inside, inside].map((id) => ({ type: 'projects', id })) },
        },
      },
    );
    expect(client.attributes['organization-scoped']).toBe(false);
    expect(client.relationships['projects']?.data).toEqual(identified(inside).data);
    const tokens = client.relationships['oauth-tokens']?.data as { id: string }[] | undefined;
    const tokenId = tokens?.[0]?.id;
    const connectIn = (name: string, projectId: string) =>
      harness.call('POST', `${O}/workspaces`, {
        data: {
          type: 'workspaces',
          attributes: { name, 'vcs-repo': { identifier: 'a/b', 'oauth-token-id': tokenId } },
          relationships: { project: { data: { type: 'projects', id: projectId } } },
        },
      });
    const REFUSED = '/data/attributes/vcs-repo/oauth-token-id';
    const made = await connectIn('in-project', inside);
    expect(made.status).toBe(201);
    const refused = await connectIn('out-of-project', outside);
    expect(refused.errors[0]?.source?.pointer).toBe(REFUSED);

    const move = { relationships: { project: { data: { type: 'projects', id: outside } } } };
    const moveOne = () =>
      harness.call('PATCH', `/workspaces/${made.data.id}`, {
        data: { type: 'workspaces', attributes: {}, ...move },
      });
    expect((await moveOne()).errors[0]?.source?.pointer).toBe(REFUSED);
    const moveMany = await harness.call('POST', `/projects/${outside}/relationships/workspaces`, {
      data: [{ type: 'workspaces', id: made.data.id }],
    });
    expect(moveMany.errors[0]?.source?.pointer).toBe(REFUSED);

    const projects = `/oauth-clients/${client.id}/relationships/projects`;
    const { data: globex } = await harness.call('GET', '/organizations/globex');
    const theirs = globex.relationships['default-project']?.data as { id: string };
    for (const id of ['prj-unknown', theirs.id]) {
      expect((await harness.call('POST', projects, identified(id))).status).toBe(404);
    }
    const both = { data: [outside, inside, outside].map((id) => ({ type: 'projects', id })) };
    expect((await harness.call('POST', projects, both)).status).toBe(204);
    const open = await harness.call('GET', `/oauth-clients/${client.id}`);
    expect(open.data.relationships['projects']?.data).toEqual(both.data.slice(0, 2));
    expect((await moveOne()).status).toBe(200);
    // Projects that the client is not assigned to are ignored.
    for (const ids of [identified(outside), identified('prj-unknown')]) {
      expect((await harness.call('DELETE', projects, ids)).status).toBe(204);
    }
    const described = {
      data: { type: 'workspaces', attributes: { description: 'still connected' } },
    };
    const kept = await harness.call('PATCH', `/workspaces/${made.data.id}`, described);
    expect(kept.data.attributes['vcs-repo-identifier']).toBe('a/b');
    const opened = { data: { type: 'oauth-clients', attributes: { 'organization-scoped': true } } };
    await harness.call('PATCH', `/oauth-clients/${client.id}`, opened);
    expect((await connectIn('anywhere', outside)).status).toBe(201);
  });

  test('connects workspaces to repositories, and disconnects them when it is deleted', async () => {
    const { client, tokenId } = await connect();
    const made = await withRepository('app', tokenId);
    expect(made.status).toBe(201);
    expect(made.data.attributes).toMatchObject({
      'oauth-client-name': 'GitLab.com',
      'vcs-repo-identifier': 'a/b',
    });
    expect((await harness.call('DELETE', `/oauth-clients/${client.id}`)).status).toBe(204);
    expect((await harness.call('GET', `/oauth-tokens/${tokenId}`)).status).toBe(404);
    const shown = await harness.call('GET', `/workspaces/${made.data.id}`);
    expect(shown.data.attributes).toMatchObject({ 'oauth-client-name': null, 'vcs-repo': null });
  });

  test('remains without repositories when its token is deleted, and works with another token', async () => {
    const { client, tokenId } = await connect();
    const path = `/oauth-clients/${client.id}`;
    const made = await withRepository('left', tokenId);
    expect((await harness.call('DELETE', `/oauth-tokens/${tokenId}`)).status).toBe(204);
    const shown = await harness.call('GET', `/workspaces/${made.data.id}`);
    expect(shown.data.attributes).toMatchObject({ 'oauth-client-name': null, 'vcs-repo': null });
    const tokensOf = async () =>
      (await harness.call('GET', path)).data.relationships['oauth-tokens']?.data as {
        readonly id: string;
      }[];
    expect(await tokensOf()).toEqual([]);
    expect((await harness.call('GET', `${path}/oauth-tokens`)).list).toEqual([]);
    expect((await harness.call('GET', `/oauth-tokens/${tokenId}`)).status).toBe(404);
    const change = (attributes: object) =>
      harness.call('PATCH', path, { data: { type: 'oauth-clients', attributes } });
    expect((await change({ name: 'renamed' })).status).toBe(200);
    expect((await change({ 'oauth-token-string': 'another' })).status).toBe(200);
    const [next] = await tokensOf();
    expect((await withRepository('again', next?.id ?? '')).status).toBe(201);
    expect((await harness.call('DELETE', path)).status).toBe(204);
  });

  test('of Bitbucket Data Center may be created first, and get its token later', async () => {
    const { 'oauth-token-string': token, secret: _secret, ...others } = CONNECTION;
    const client = await harness.create(`${O}/oauth-clients`, 'oauth-clients', {
      ...others,
      'service-provider': 'bitbucket_data_center',
    });
    expect(client.relationships['oauth-tokens']?.data).toEqual([]);
    const { status, data } = await harness.call('PATCH', `/oauth-clients/${client.id}`, {
      data: { type: 'oauth-clients', attributes: { 'oauth-token-string': token } },
    });
    expect(status).toBe(200);
    const tokens = data.relationships['oauth-tokens']?.data as { id: string }[];
    expect((await withRepository('later', tokens[0]?.id ?? '')).status).toBe(201);
  });

  test('of another organization, or of none, is refused', async () => {
    const { tokenId } = await connect('/organizations/globex');
    for (const id of [tokenId, 'ot-none']) {
      const { status, errors } = await withRepository('foreign', id);
      expect(status).toBe(422);
      expect(errors[0]?.source?.pointer).toBe('/data/attributes/vcs-repo/oauth-token-id');
    }
  });

  test.for([
    [{ 'http-url': 'ftp://a.example' }, '/data/attributes/http-url'],
    [{ 'api-url': 'https://user@a.example' }, '/data/attributes/api-url'],
    [{ 'api-url': 'https://:secret@a.example' }, '/data/attributes/api-url'],
    [{ 'oauth-token-string': '' }, '/data/attributes/oauth-token-string'],
    [{ 'service-provider': 'cvs' }, '/data/attributes/service-provider'],
  ] as const)('refuses %j', async ([change, pointer]) => {
    const { status, errors } = await harness.call('POST', `${O}/oauth-clients`, {
      data: { type: 'oauth-clients', attributes: { ...CONNECTION, ...change } },
    });
    expect(status).toBe(422);
    expect(errors[0]?.source?.pointer).toBe(pointer);
  });

  test.for([
    ['ado_server', 'upload configurations from its pipelines instead'],
    ['ado_services', 'upload configurations from its pipelines instead'],
    ['bitbucket_server_legacy', 'name it bitbucket_server or bitbucket_data_center'],
    ['github_app', 'name github or github_enterprise, with a token'],
    ['cvs', 'is not one of the allowed values: bitbucket_data_center, bitbucket_hosted,'],
  ] as const)('of %s is refused with a text', async ([name, text]) => {
    const { status, errors } = await harness.call('POST', `${O}/oauth-clients`, {
      data: { type: 'oauth-clients', attributes: { ...CONNECTION, 'service-provider': name } },
    });
    expect(status).toBe(422);
    expect(errors[0]).toMatchObject({
      detail: expect.stringContaining(text) as string,
      source: { pointer: '/data/attributes/service-provider' },
    });
  });

  test.for([
    'bitbucket_data_center',
    'bitbucket_hosted',
    'bitbucket_server',
    'forgejo',
    'gitea',
    'github',
    'github_enterprise',
    'gitlab_community_edition',
    'gitlab_enterprise_edition',
    'gitlab_hosted',
  ])('of %s connects workspaces', async (name) => {
    const attributes = { ...CONNECTION, secret: '', 'service-provider': name };
    const client = await harness.create(`${O}/oauth-clients`, 'oauth-clients', attributes);
    const tokens = client.relationships['oauth-tokens']?.data as { id: string }[] | undefined;
    expect((await withRepository(name, tokens?.[0]?.id ?? '')).status).toBe(201);
  });

  test('accepts an SSH key of its own for its token, and keeps it secret', async () => {
    const { tokenId } = await connect();
    const change = (attributes: object, relationships: object = {}) =>
      harness.call('PATCH', `/oauth-tokens/${tokenId}`, {
        data: { type: 'oauth-tokens', attributes, relationships },
      });
    const own = '-----BEGIN RSA PRIVATE KEY-----\nMIICXgIBAAKB\n-----END RSA PRIVATE KEY-----';
    const key = await harness.create(`${O}/ssh-keys`, 'ssh-keys', { name: 'k', value: own });
    const assigned = { 'ssh-key': { data: { type: 'ssh-keys', id: key.id } } };
    for (const [text, relationships] of [
      ['PRIVATE KEY', {}],
      ['-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----', {}],
      ['', {}],
      [own, assigned],
    ] as const) {
      const refused = await change({ 'ssh-key': text }, relationships);
      expect([refused.status, refused.errors[0]?.source]).toEqual([
        422,
        { pointer: '/data/attributes/ssh-key' },
      ]);
    }
    const set = await change({ 'ssh-key': own });
    expect([set.status, set.data.attributes['has-ssh-key']]).toEqual([200, true]);
    expect(JSON.stringify(set)).not.toContain('MIICXgIBAAKB');
    const keyOf = async () => {
      const { store } = harness;
      const hook = { tokenId, identifier: 'a/b' };
      return (await loadRepository(store, hook))?.sshKey;
    };
    expect(await keyOf()).toBe(own);
    await harness.call('DELETE', `/ssh-keys/${key.id}`);
    expect(await keyOf()).toBe(own);
    expect((await change({ 'ssh-key': null })).data.attributes['has-ssh-key']).toBe(false);
    expect(await keyOf()).toBeUndefined();
  });

  test('accepts an SSH key of its organization', async () => {
    const { tokenId } = await connect();
    const value = '-----BEGIN PRIVATE KEY-----';
    const key = await harness.create(`${O}/ssh-keys`, 'ssh-keys', { name: 'k', value });
    const assign = (id: string | null) =>
      harness.call('PATCH', `/oauth-tokens/${tokenId}`, {
        data: {
          type: 'oauth-tokens',
          relationships: { 'ssh-key': { data: id === null ? null : { type: 'ssh-keys', id } } },
        },
      });
    expect((await assign(key.id)).data.attributes['has-ssh-key']).toBe(true);
    const shown = async () =>
      (await harness.call('GET', `/oauth-tokens/${tokenId}`)).data.attributes['has-ssh-key'];
    expect((await assign(null)).data.attributes['has-ssh-key']).toBe(false);
    const other = await harness.create(`${O}/ssh-keys`, 'ssh-keys', { name: 'k', value });
    await assign(key.id);
    await harness.call('DELETE', `/ssh-keys/${other.id}`);
    expect(await shown()).toBe(true);
    await harness.call('DELETE', `/ssh-keys/${key.id}`);
    expect(await shown()).toBe(false);
    const far = '/organizations/globex/ssh-keys';
    const foreign = await harness.create(far, 'ssh-keys', { name: 'k', value });
    for (const id of ['sshkey-none', foreign.id]) {
      expect((await assign(id)).errors[0]?.detail).toBe('Ssh key is invalid');
    }
  });
});
