/** The link of an invitation, opened by somebody who has no account. */
import { startMailServer } from '@keelson/testkit';
import { afterAll, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';

const mail = await startMailServer();
const site = useConsole({
  env: {
    KEELSON_WORKSPACE_SMTP_URL: mail.url,
    KEELSON_WORKSPACE_MAIL_FROM: 'keelson@keelson.example',
    KEELSON_PUBLIC_URL: 'https://keelson.example',
  },
});
afterAll(() => mail[Symbol.asyncDispose]());

test('shows who invites to what, and gives the invited person a first token once', {
  timeout: PATIENCE_MS,
}, async () => {
  const create = (path: string, type: string, attributes: object) =>
    site.workspaces('POST', path, { data: { type, attributes } });
  await create('organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  await create('organizations/acme/organization-memberships', 'organization-memberships', {
    email: 'ada@keelson.example',
  });
  const text = (await mail.mail(0)).replaceAll('=\r\n', '').replaceAll('=3D', '=');
  const path = /https:\/\/keelson\.example(\/app\/invitation#\S+)/.exec(text)?.[1] ?? '';

  const { page } = await site.open(path);
  await page.getByText('admin invites you to the organization acme.').waitFor();
  await page.getByText('the account ada for ada@keelson.example').waitFor();
  await page.getByRole('button', { name: 'Accept the invitation' }).click();
  await page.getByText('You are a member now.').waitFor();
  const token = await page.locator('code.secret').innerText();
  await page.getByRole('button', { name: 'Sign in with it' }).click();
  await page.getByRole('link', { name: 'acme', exact: true }).first().waitFor();
  const { data } = await site.workspaces('GET', 'account/details', undefined, token);
  expect(data.attributes.username).toBe('ada');

  const again = await site.open(path);
  await again.page.getByText('This link does not open an invitation').waitFor();
});
