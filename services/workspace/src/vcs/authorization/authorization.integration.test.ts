/**
 * Clients with a key pair, with a server that verifies their signatures as Bitbucket Data Center does, and the real
 * git over SSH:
 *
 * | endpoint | success | refused |
 * | --- | --- | --- |
 * | POST /oauth-clients/:id/actions/begin-authorization | 200 | a client with a token 409, the provider 502 |
 * | POST /oauth-clients/:id/actions/complete-authorization | 200 | another's, ended or unknown attempt 409, the provider 502 |
 */
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { startLinkedServer, startSshServer } from '@keelson/testkit';
import { afterAll, describe, expect, test } from 'vitest';
import { startRepositoryHarness } from '../../../test/repository-harness.ts';
import { oauthClientRecords, oauthTokenRecords } from '../../workspaces/model/oauth-records.ts';
import { pendingAuthorizations } from './authorization-records.ts';

const O = '/organizations/acme';
const repositories = await startRepositoryHarness();
const { harness, server: git } = repositories;
const link = await startLinkedServer();
const ssh = await startSshServer(git.folder);
link.sshUrlOf = (project, name) => `ssh://git@${ssh.authority}/${project}/${name}.git`;
afterAll(async () => {
  await ssh[Symbol.asyncDispose]();
  await link[Symbol.asyncDispose]();
  await repositories[Symbol.asyncDispose]();
});

const KEY_PAIR = {
  key: link.consumerKey,
  secret: link.privateKey,
  'rsa-public-key': link.publicKey,
};
const ADDRESSES = {
  'service-provider': 'bitbucket_data_center',
  'http-url': link.url,
  'api-url': link.url,
};
const tryCreate = (attributes: object, extra: object = {}) =>
  harness.call('POST', `${O}/oauth-clients`, {
    data: { type: 'oauth-clients', attributes: { ...ADDRESSES, ...attributes }, ...extra },
  });
const create = (attributes: object = {}) =>
  harness.create(`${O}/oauth-clients`, 'oauth-clients', {
    ...ADDRESSES,
    ...KEY_PAIR,
    ...attributes,
  });
const begin = (clientId: string, token?: string) =>
  harness.call('POST', `/oauth-clients/${clientId}/actions/begin-authorization`, undefined, token);
const complete = (clientId: string, back: string, token?: string) => {
  const { searchParams } = new URL(back);
  const attributes = {
    'oauth-token': searchParams.get('oauth_token'),
    'oauth-verifier': searchParams.get('oauth_verifier'),
  };
  const body = { data: { type: 'oauth-authorizations', attributes } };
  return harness.call(
    'POST',
    `/oauth-clients/${clientId}/actions/complete-authorization`,
    body,
    token,
  );
};
const urlOf = ({ data }: Awaited<ReturnType<typeof begin>>) =>
  String(data.attributes['authorize-url']);
const authorize = async (clientId: string) =>
  (await complete(clientId, link.visit(urlOf(await begin(clientId))))).data;

describe('a client with a key pair', () => {
  test('is created without a token, and names the page on which it is authorized', async () => {
    const { status, data, meta } = await tryCreate({ ...KEY_PAIR, 'oauth-token-string': '' });
    expect([status, meta]).toEqual([201, undefined]);
    const path = `/app/acme/version-control/${data.id}`;
    expect(data.attributes).toMatchObject({
      key: 'keelson',
      'rsa-public-key': link.publicKey,
      'connect-path': path,
      'callback-url': `https://keelson.example${path}`,
    });
    expect(data.relationships['oauth-tokens']?.data).toEqual([]);
    const tokens = await harness.call('GET', `/oauth-clients/${data.id}/oauth-tokens`);
    expect([tokens.status, tokens.list]).toEqual([200, []]);
    const shown = [
      data,
      (await harness.call('GET', `${O}/oauth-clients?include=oauth_tokens`)).list,
    ];
    expect(JSON.stringify(shown)).not.toContain('PRIVATE');
  });

  const other = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  const short = generateKeyPairSync('rsa', {
    modulusLength: 1024,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const curve = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const [SECRET, PUBLIC, TOKEN] = ['secret', 'rsa-public-key', 'oauth-token-string'].map(
    (name) => `/data/attributes/${name}`,
  );
  test.for([
    ['without the consumer key', { key: '' }, ['/data/attributes/key']],
    ['without the private key', { secret: null }, [SECRET]],
    ['whose keys do not belong together', { 'rsa-public-key': other.publicKey }, [PUBLIC]],
    ['that is no pair of keys', { secret: 'x', 'rsa-public-key': 'y' }, [SECRET, PUBLIC]],
    [
      'of 1,024 bits',
      { secret: short.privateKey, 'rsa-public-key': short.publicKey },
      [SECRET, PUBLIC],
    ],
    [
      'of an elliptic curve',
      { secret: curve.privateKey, 'rsa-public-key': curve.publicKey },
      [SECRET, PUBLIC],
    ],
    ['that would show the private key', { 'rsa-public-key': link.privateKey }, [PUBLIC]],
    ['with a token too', { 'oauth-token-string': 'secret' }, [SECRET]],
    ['at another provider', { 'service-provider': 'github' }, [TOKEN]],
  ] as const)('%s is refused', async ([, attributes, pointers]) => {
    const { status, errors } = await tryCreate({ ...KEY_PAIR, ...attributes });
    expect([status, errors.map(({ source }) => source?.pointer)]).toEqual([422, pointers]);
  });

  test('is not reached through agents', async () => {
    const { poolId } = repositories.runs;
    const pool = { 'agent-pool': { data: { type: 'agent-pools', id: poolId } } };
    const POINTER = '/data/relationships/agent-pool/data/id';
    const made = await tryCreate(KEY_PAIR, { relationships: pool });
    expect([made.status, made.errors[0]?.source?.pointer]).toEqual([422, POINTER]);
    const { id } = await create();
    const changed = await harness.call('PATCH', `/oauth-clients/${id}`, {
      data: { type: 'oauth-clients', attributes: {}, relationships: pool },
    });
    expect([changed.status, changed.errors[0]?.source?.pointer]).toEqual([422, POINTER]);
  });

  test('keeps a key pair that belongs together when it is changed', async () => {
    const { id } = await create();
    const change = (attributes: object) =>
      harness.call('PATCH', `/oauth-clients/${id}`, {
        data: { type: 'oauth-clients', attributes },
      });
    for (const attributes of [
      { key: '' },
      { secret: other.privateKey },
      { 'oauth-token-string': 'a-token' },
    ])
      expect((await change(attributes)).status).toBe(422);
    // As the provider of infrastructure sends it.
    const renewed = await change({
      'oauth-token-string': '',
      secret: other.privateKey,
      'rsa-public-key': other.publicKey,
    });
    expect([renewed.status, renewed.data.attributes['rsa-public-key']]).toEqual([
      200,
      other.publicKey,
    ]);
  });
});

describe('an authorization', () => {
  test('gives the client a token, under the same id when it is repeated', async () => {
    const { id } = await create();
    const first = await authorize(id);
    expect(first).toMatchObject({ type: 'oauth-tokens', attributes: { 'has-ssh-key': false } });
    const shown = await harness.call('GET', `/oauth-clients/${id}`);
    expect(shown.data.relationships['oauth-tokens']?.data).toEqual([
      { id: first.id, type: 'oauth-tokens' },
    ]);
    const text = async () => (await oauthTokenRecords.find(harness.store, first.id))?.token ?? '';
    const before = await text();
    expect((await authorize(id)).id).toBe(first.id);
    expect(await text()).not.toBe(before);
    expect(link.accessTokens).toContain(await text());
  });

  test('is completed once, by the person who has begun it, and with what the provider sent back', async () => {
    const { list } = await harness.call('GET', `${O}/teams`);
    const colleague = await harness.addUser('colleague', list[0]?.id ?? '');
    const { id } = await create();
    const back = link.visit(urlOf(await begin(id)));
    const forged = new URL(back);
    forged.searchParams.set('oauth_token', 'guessed');
    expect((await complete(id, forged.href)).status).toBe(409);
    expect((await complete(id, back, colleague.token)).status).toBe(409);
    const { id: another } = await create();
    expect((await complete(another, back)).status).toBe(409);
    expect((await complete(id, back)).status).toBe(200);
    expect((await complete(id, back)).status).toBe(409);
  });

  test('with a forged verifier is refused by the provider, and used up', async () => {
    const { id } = await create();
    const back = link.visit(urlOf(await begin(id)));
    const forged = new URL(back);
    forged.searchParams.set('oauth_verifier', 'guessed');
    const { status, errors } = await complete(id, forged.href);
    expect([status, errors[0]?.detail]).toEqual([
      502,
      `the provider did not authorize the client: ${new URL(link.url).host} answered with 401: token_rejected`,
    ]);
    expect((await complete(id, back)).status).toBe(409);
    expect((await oauthClientRecords.find(harness.store, id))?.tokenId).toBeNull();
  });

  test('ends after 10 minutes, with a newer one, and with its client', async () => {
    const { id } = await create();
    const late = link.visit(urlOf(await begin(id)));
    harness.clock.advance(10 * 60 * 1000);
    expect((await complete(id, late)).status).toBe(409);
    const old = link.visit(urlOf(await begin(id)));
    await begin(id);
    expect((await complete(id, old)).status).toBe(409);
    await harness.call('DELETE', `/oauth-clients/${id}`);
    expect(await pendingAuthorizations.find(harness.store, id)).toBeUndefined();
  });

  test('is refused by a provider that does not know the consumer, or confirms no callback', async () => {
    const { id } = await create({ key: 'unknown' });
    expect((await begin(id)).errors[0]?.detail).toContain('401: consumer_key_unknown');
    const known = await create();
    link.isFirstEdition = true;
    const { status, errors } = await begin(known.id);
    link.isFirstEdition = false;
    expect([status, errors[0]?.detail]).toEqual([
      502,
      expect.stringContaining('did not confirm the callback address'),
    ]);
  });

  test('of a client with a token is a conflict', async () => {
    const made = await tryCreate({ 'oauth-token-string': 'given' });
    expect((await begin(made.data.id)).status).toBe(409);
    expect(made.data.attributes).toMatchObject({ 'connect-path': null, 'callback-url': null });
  });

  test('reaches permitted addresses only', async () => {
    const { id } = await create({ 'api-url': 'http://169.254.169.254' });
    const { status, errors } = await begin(id);
    expect([status, errors[0]?.detail]).toEqual([
      502,
      expect.stringContaining('the address policy permits no address of 169.254.169.254'),
    ]);
  });
});

describe('a repository of an authorized client', () => {
  test('has a webhook, is fetched over SSH, and receives statuses, all with signed requests', async () => {
    const { id: clientId } = await create();
    const { id: tokenId } = await authorize(clientId);
    link.calls.length = 0;
    const first = await git.commit('NET/infra', { 'main.tf': '1' });
    const workspace = await repositories.createWorkspace(
      'linked',
      'NET/infra',
      { 'queue-all-runs': true },
      { 'oauth-token-id': tokenId },
    );
    await harness.runUpkeep();
    expect(String((await repositories.repositoryOf(workspace))['problem'])).toContain(
      'give its OAuth token an SSH key',
    );
    const given = { name: 'of the service account', value: ssh.privateKey };
    const key = await harness.create(`${O}/ssh-keys`, 'ssh-keys', given);
    const assigned = await harness.call('PATCH', `/oauth-tokens/${tokenId}`, {
      data: {
        type: 'oauth-tokens',
        attributes: {},
        relationships: { 'ssh-key': { data: { type: 'ssh-keys', id: key.id } } },
      },
    });
    expect(assigned.data.attributes['has-ssh-key']).toBe(true);
    harness.clock.advance(60_000);
    await harness.runUpkeep();
    expect(await repositories.repositoryOf(workspace)).toMatchObject({ problem: null });
    expect(ssh.commands).toContain("git-upload-pack '/NET/infra.git'");
    const { included } = await repositories.versionsOf(workspace);
    expect(included[0]?.attributes).toMatchObject({ 'commit-sha': first, branch: 'main' });

    const second = await git.commit('NET/infra', { 'main.tf': '2' });
    const hook = await repositories.hookOf(workspace);
    const payload = {
      eventKey: 'repo:refs_changed',
      actor: { name: 'ada' },
      changes: [
        { ref: { id: 'refs/heads/main' }, fromHash: first, toHash: second, type: 'UPDATE' },
      ],
    };
    const signature = createHmac('sha256', hook?.secret ?? '').update(JSON.stringify(payload));
    const delivered = await harness.call(
      'POST',
      `/webhooks/repositories/${hook?.id}`,
      payload,
      null,
      {
        'content-type': 'application/json',
        'x-event-key': 'repo:refs_changed',
        'x-request-id': 'one',
        'x-hub-signature': `sha256=${signature.digest('hex')}`,
      },
    );
    expect(delivered.status).toBe(202);
    await harness.runUpkeep();
    expect(await repositories.runsOf(workspace)).toHaveLength(2);
    const { id } = (await repositories.hookOf(workspace)) ?? {};
    expect(link.calls.filter(({ method }) => method === 'POST')).toMatchObject([
      {
        path: '/rest/api/1.0/projects/NET/repos/infra/webhooks',
        body: { url: `https://keelson.example/api/v2/webhooks/repositories/${id}` },
      },
      { path: `/rest/build-status/1.0/commits/${first}`, body: { state: 'INPROGRESS' } },
      { path: `/rest/build-status/1.0/commits/${second}`, body: { state: 'INPROGRESS' } },
    ]);

    link.calls.length = 0;
    await harness.call('DELETE', `/oauth-clients/${clientId}`);
    await harness.runUpkeep();
    expect(link.calls).toMatchObject([
      { method: 'DELETE', path: '/rest/api/1.0/projects/NET/repos/infra/webhooks/7' },
    ]);
  });

  test.for([
    [undefined, 'names no address of the repository for SSH'],
    ['ssh://git@-oProxyCommand=x/NET/infra.git', 'names no address of the repository for SSH'],
    ['file:///etc/NET/infra.git', 'names no address of the repository for SSH'],
    ['ssh://git@10.0.0.1:22/NET/infra.git', 'the address policy permits no address of 10.0.0.1'],
  ] as const)('is not fetched from %s', async ([address, problem]) => {
    const { id } = await authorize((await create()).id);
    const given = { name: 'key', value: ssh.privateKey };
    const key = await harness.create(`${O}/ssh-keys`, 'ssh-keys', given);
    await harness.call('PATCH', `/oauth-tokens/${id}`, {
      data: {
        type: 'oauth-tokens',
        attributes: {},
        relationships: { 'ssh-key': { data: { type: 'ssh-keys', id: key.id } } },
      },
    });
    const usual = link.sshUrlOf;
    link.sshUrlOf = address === undefined ? undefined : () => address;
    const workspace = await repositories.createWorkspace(
      `at-${String(address).length}`,
      'NET/infra',
      {},
      { 'oauth-token-id': id },
    );
    await harness.runUpkeep();
    link.sshUrlOf = usual;
    expect(String((await repositories.repositoryOf(workspace))['problem'])).toContain(problem);
  });
});
