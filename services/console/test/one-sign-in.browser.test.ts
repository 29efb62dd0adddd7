/** One sign-in for everything: this installation is the provider of its own workspace API. */
import { publicAddress } from '@keelson/testkit';
import { tokensOf } from '@keelson/testkit/browser-session';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';

const site = useConsole({
  env: { KEELSON_OUTBOUND_RANGES: '127.0.0.1', ...(await publicAddress()) },
});
const PASSWORD = 'correct horse';

beforeAll(async () => {
  await site.secrets('sys/auth/people', {
    type: 'userpass',
    description: 'the people',
    config: { listing_visibility: 'unauth' },
  });
  const entities: string[] = [];
  for (const name of ['ada', 'bob']) {
    await site.secrets(`auth/people/users/${name}`, { password: PASSWORD });
    const { auth } = await site.secrets(`auth/people/login/${name}`, { password: PASSWORD });
    const metadata = { mail: `${name}@acme.example` };
    await site.secrets(`identity/entity/id/${auth.entity_id}`, { metadata });
    entities.push(auth.entity_id);
  }
  await site.secrets('identity/oidc/assignment/staff', { entity_ids: entities[0] });
  await site.secrets('identity/oidc/client/workspaces', {
    redirect_uris: `${site.origin()}/app/sign-in/return`,
    assignments: 'staff',
  });
  await site.secrets('identity/oidc/scope/email', {
    template: '{"email": {{identity.entity.metadata.mail}}, "email_verified": true}',
  });
  const { data: client } = await site.readSecret('identity/oidc/client/workspaces');
  await site.secrets('identity/oidc/provider/people', {
    allowed_client_ids: client.client_id,
    scopes_supported: 'email',
  });
  const attributes = {
    enabled: true,
    title: 'the account of this installation',
    issuer: `${site.origin()}/v1/identity/oidc/provider/people`,
    'client-id': client.client_id,
    'client-secret': client.client_secret,
    scopes: ['email'],
    'creates-users': true,
  };
  await site.workspaces('PATCH', 'admin/sso-settings', {
    data: { type: 'sso-settings', attributes },
  });
}, PATIENCE_MS);

const openAs = async (name: string) => {
  const { page } = await site.open('/ui/');
  const form = page.getByRole('form', { name: 'Sign in with a password' });
  await form.getByLabel('User name').fill(name);
  await form.getByLabel('Password').fill(PASSWORD);
  await form.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.goto(`${site.origin()}/app`);
  await page
    .getByRole('button', { name: 'Continue with the account of this installation' })
    .click();
  return page;
};

describe('one-sign-in', { timeout: PATIENCE_MS }, () => {
  test('takes whoever has signed in to certificates and administration on to workspaces without another question', async () => {
    const page = await openAs('ada');
    await page.getByRole('heading', { name: 'Organizations', level: 1 }).waitFor();
    const { api } = await tokensOf(page);
    const own = await site.workspaces('GET', 'account/details', undefined, api);
    expect(own.data.attributes).toMatchObject({ username: 'ada', email: 'ada@acme.example' });
  });

  test('refuses whoever is not assigned to the workspaces', async () => {
    const page = await openAs('bob');
    await page.getByText('identity entity not authorized by client assignment').waitFor();
    expect(await tokensOf(page)).not.toHaveProperty('api');
  });
});
