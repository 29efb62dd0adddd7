/**
 * Clients, scopes, assignments and providers (`identity/oidc`) as operators set them.
 *
 * | case                                                   | outcome                                         |
 * | ------------------------------------------------------ | ----------------------------------------------- |
 * | settings                                               | are shown as they were set; lists have no secret |
 * | `allow_all`, the built-in provider and key             | exist, and stay                                 |
 * | an assignment of one's own with "*"                    | assigns nobody                                  |
 * | a provider, also of a namespace                        | describes its endpoints                         |
 * | scopes with the same claim                             | a warning                                       |
 * | what is in use, values out of range, dangerous URIs    | refused by name                                 |
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinMethod, logIn, mountMethod } from '../../test/login-steps.ts';
import { oidcSteps } from '../../test/oidc-steps.ts';
import { type Document, openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

const PUBLIC_URL = 'https://keelson.example';
const CALLBACK = 'https://app.example/callback';

let harness: SysHarness;
const { post, newClient, clientOf, refusal } = oidcSteps(() => harness);
let app: { readonly id: string; readonly secret: string };
let spa: { readonly id: string };
beforeAll(async () => {
  harness = await openInitializedSys({ config: { publicUrl: PUBLIC_URL } });
  await joinMethod(harness);
  await post('scope/mail', { template: '{"mail": {{identity.entity.metadata.mail}}}' });
  await post('scope/other', { template: '{"mail": "fixed", "time": {{time.now}}}' });
  await post('assignment/staff', { entity_ids: 'someone' });
  await newClient('app', {
    redirect_uris: [CALLBACK],
    assignments: 'staff',
    access_token_ttl: 600,
  });
  await newClient('spa', { redirect_uris: 'https://spa.example/', client_type: 'public' });
  app = await clientOf('app');
  spa = await clientOf('spa');
  await post('provider/main', {
    allowed_client_ids: [app.id, spa.id],
    scopes_supported: ['mail', 'other'],
  });
  await post('provider/narrow', { allowed_client_ids: spa.id });
  await post('key/narrow', { allowed_client_ids: 'another' });
});
afterAll(() => harness.close());

describe('settings', () => {
  test('of the provider are described for clients, in its namespace', async () => {
    await harness.createNamespace('unit');
    const path = 'identity/oidc/provider/default/.well-known/openid-configuration';
    const { body } = await harness.call('GET', path, { namespace: 'unit' });
    const issuer = `${PUBLIC_URL}/v1/unit/identity/oidc/provider/default`;
    expect(body).toMatchObject({
      issuer,
      jwks_uri: `${issuer}/.well-known/keys`,
      authorization_endpoint: `${PUBLIC_URL}/ui/identity/oidc/provider/default/authorize?namespace=unit`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      scopes_supported: ['openid'],
    });
    const unknown = await harness.call('GET', path.replace('default', 'unknown'));
    expect(unknown.status).toBe(404);
  });

  test('are shown as they were set, without secrets in lists', async () => {
    const listed = await harness.asRoot('LIST', 'identity/oidc/client');
    expect(listed.body.data.key_info.app).toEqual({
      access_token_ttl: 600,
      assignments: ['staff'],
      client_id: app.id,
      client_type: 'confidential',
      id_token_ttl: 86_400,
      key: 'default',
      redirect_uris: [CALLBACK],
    });
    expect(app.secret).toMatch(/^hvo_secret_\w{64}$/);
    const main = await harness.asRoot('GET', 'identity/oidc/provider/main');
    expect(main.body.data).toEqual({
      allowed_client_ids: [app.id, spa.id],
      issuer: `${PUBLIC_URL}/v1/identity/oidc/provider/main`,
      scopes_supported: ['mail', 'other'],
    });
    const providers = await harness.asRoot('LIST', 'identity/oidc/provider', {
      query: `allowed_client_id=${app.id}`,
    });
    expect(providers.body.data.keys).toEqual(expect.arrayContaining(['default', 'main']));
    expect(providers.body.data.keys).not.toContain('narrow');
    const keysOf = async (kind: string) =>
      (await harness.asRoot('LIST', `identity/oidc/${kind}`)).body.data.keys;
    expect(await keysOf('scope')).toEqual(['mail', 'other']);
    expect(await keysOf('assignment')).toEqual(['allow_all', 'staff']);
    const all = await harness.asRoot('GET', 'identity/oidc/assignment/allow_all');
    expect(all.body.data).toEqual({ entity_ids: ['*'], group_ids: ['*'] });
  });

  test('that name a "*" in an assignment of one\'s own assign nobody', async () => {
    await post('assignment/star', { entity_ids: '*', group_ids: '*' });
    await newClient('star', { redirect_uris: CALLBACK, assignments: 'star' });
    const { uuid } = await mountMethod(harness, 'people');
    const { client_token: token } = await logIn(harness, uuid);
    const answer = await harness.call('POST', 'identity/oidc/provider/default/authorize', {
      token,
      body: {
        client_id: (await clientOf('star')).id,
        redirect_uri: CALLBACK,
        scope: 'openid',
        response_type: 'code',
      },
    });
    expect(answer.body.error).toBe('access_denied');
  });

  test('whose scopes set the same claim are warned of', async () => {
    const { warnings } = await post('provider/warned', { scopes_supported: ['mail', 'other'] });
    expect(warnings).toEqual([expect.stringMatching(/conflict "mail" in scopes "other", "mail"/)]);
  });

  test.for<[method: string, path: string, body: Document, text: RegExp]>([
    ['POST', 'scope/openid', {}, /scope name is reserved/],
    ['POST', 'scope/bad', { template: '{"aud":"x"}' }, /top level key "aud" not allowed/],
    ['DELETE', 'scope/mail', {}, /referenced by these providers: main/],
    ['POST', 'assignment/allow_all', { entity_ids: 'x' }, /modification .* not allowed/],
    ['DELETE', 'assignment/allow_all', {}, /deletion .* not allowed/],
    ['DELETE', 'assignment/staff', {}, /referenced by these clients: app/],
    ['DELETE', 'provider/default', {}, /deletion of OIDC provider "default" not allowed/],
    ['DELETE', 'key/default', {}, /not allowed/],
    ['POST', 'client/bad', { key: 'unknown' }, /key "unknown" does not exist/],
    ['POST', 'client/bad', { assignments: 'unknown' }, /assignment "unknown" does not exist/],
    ['POST', 'client/bad', { client_type: 'secret' }, /invalid client_type "secret"/],
    ['POST', 'client/bad', { id_token_ttl: '25h' }, /id_token_ttl cannot be longer/],
    ['POST', 'client/bad', { access_token_ttl: '31d' }, /access_token_ttl has/],
    [
      'POST',
      'client/bad',
      { redirect_uris: 'javascript:alert(1)' },
      /scheme that browsers execute/,
    ],
    ['POST', 'client/bad', { redirect_uris: '/callback' }, /not an absolute URI/],
    ['POST', 'client/bad', { redirect_uris: 'https://a.example/#x' }, /not an absolute URI/],
    ['POST', 'client/app', { client_type: 'public' }, /client_type modification/],
    ['POST', 'client/app', { key: 'narrow' }, /key modification/],
    ['POST', 'provider/bad', { scopes_supported: 'unknown' }, /scope "unknown" does not exist/],
    ['POST', 'provider/bad', { issuer: 'https://a.example/x' }, /invalid issuer/],
  ])('%s %s with %j is refused', async ([method, path, body, text]) => {
    expect(await refusal(path, body, method)).toMatch(text);
  });
});
