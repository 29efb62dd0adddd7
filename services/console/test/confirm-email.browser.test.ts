/** The link in the mail to an address that a user gives. */
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

test('shows which account gave the address, and confirms it once', {
  timeout: PATIENCE_MS,
}, async () => {
  const account = async () => (await site.workspaces('GET', 'account/details')).data.attributes;
  await site.workspaces('PATCH', 'account/update', {
    data: { type: 'users', attributes: { email: 'ada@keelson.example' } },
  });
  expect(await account()).toMatchObject({ 'unconfirmed-email': 'ada@keelson.example' });
  // The former address gets a mail as well, before or after this one.
  const texts = (await Promise.all([mail.mail(0), mail.mail(1)])).map((text) =>
    text.replaceAll('=\r\n', '').replaceAll('=3D', '='),
  );
  const path =
    /https:\/\/keelson\.example(\/app\/confirm-email#\S+)/.exec(texts.join('\n'))?.[1] ?? '';

  const { page } = await site.open(path);
  await page.getByText('The account admin says that ada@keelson.example is').waitFor();
  await page.getByRole('button', { name: 'Confirm my account' }).click();
  await page.getByText('ada@keelson.example is the mail address of your account now.').waitFor();
  expect(await account()).toMatchObject({
    email: 'ada@keelson.example',
    'unconfirmed-email': null,
  });

  const again = await site.open(path);
  await again.page.getByText('This link confirms no address').waitFor();
});
