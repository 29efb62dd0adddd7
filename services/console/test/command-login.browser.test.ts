/** The page that `terraform login` opens, with a command that follows its protocol. The tool itself: conformance/terraform. */
import { expect, test } from 'vitest';
import { exchange, pageFor, STATE, startCommand } from './command-login.ts';
import { PATIENCE_MS, signIn, useConsole } from './console-harness.ts';

const site = useConsole();
const REFUSED = { status: 400, document: { error: 'invalid_grant' } };

test('asks whoever has no session of the workspace API to sign in, and then gives the command a code for one token', {
  timeout: PATIENCE_MS,
}, async () => {
  const { redirectUri, called } = await startCommand();
  const { page, problems } = await site.open(pageFor(redirectUri));
  await signIn(page, site.rootToken());
  await page.getByRole('heading', { name: 'Add another token' }).waitFor();
  await signIn(page, site.apiToken());
  await page.getByText('an API token of your account admin').waitFor();
  const offered = await site.workspaces('GET', 'account/details');
  const tokens = `users/${offered.data.id}/authentication-tokens`;
  const before = (await site.workspaces('GET', tokens)).data.length;
  expect(problems).toEqual([]);
  await page.getByRole('button', { name: 'Give the command a token' }).click();
  await page.getByText('The command has its answer.').waitFor();
  const parameters = await called;
  expect([...parameters.keys()]).toEqual(['code', 'state']);
  expect(parameters.get('state')).toBe(STATE);
  expect((await site.workspaces('GET', tokens)).data).toHaveLength(before);

  const code = parameters.get('code') ?? '';
  const given = await exchange(site.origin(), code, redirectUri);
  expect(given.status).toBe(200);
  const own = await site.workspaces(
    'GET',
    'account/details',
    undefined,
    given.document['access_token'],
  );
  expect(own.data.attributes.username).toBe('admin');
  expect(await exchange(site.origin(), code, redirectUri)).toMatchObject(REFUSED);

  const { page: list } = await site.openSignedIn('/app/settings/tokens');
  await list.getByRole('button', { name: /^Revoke terraform login, / }).waitFor();
});

test('tells the command of a refusal, and sends nothing to another address', {
  timeout: PATIENCE_MS,
}, async () => {
  const { redirectUri, called } = await startCommand();
  const { page } = await site.openSignedIn(pageFor(redirectUri));
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByText('The command has its answer.').waitFor();
  const parameters = await called;
  expect([parameters.get('error'), parameters.get('state')]).toEqual(['access_denied', STATE]);
  const refused = await exchange(site.origin(), parameters.get('code') ?? '', redirectUri);
  expect(refused).toMatchObject(REFUSED);

  const stranger = await site.openSignedIn(pageFor('https://evil.example/login'));
  await stranger.page.getByText('nothing is given to it').waitFor();
  expect(await stranger.page.getByRole('button', { name: 'Give the command' }).count()).toBe(0);

  // The port is none that the installation announces: the server refuses.
  const other = await site.openSignedIn(pageFor('http://localhost:9999/login'));
  await other.page.getByRole('button', { name: 'Give the command a token' }).click();
  await other.page.getByText('redirect-uri must be http://localhost:PORT/login').waitFor();
});
