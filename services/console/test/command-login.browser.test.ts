/** The page that `terraform login` opens, with a command that follows its protocol. The tool itself: conformance/terraform. */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { PATIENCE_MS, signIn, useConsole } from './console-harness.ts';

const site = useConsole();
const VERIFIER = 'the-verifier-of-this-test-has-43-characters-at-least';
const STATE = 'state of the command';
const REFUSED = { status: 400, document: { error: 'invalid_grant' } };

interface Command {
  readonly redirectUri: string;
  /** The parameters with which the browser comes back. */
  readonly called: Promise<URLSearchParams>;
}

const listen = async (server: Server, port: number): Promise<boolean> => {
  server.listen(port, '127.0.0.1');
  return Promise.race([
    once(server, 'listening').then(() => true),
    once(server, 'error').then(() => false),
  ]);
};

/** Listens on a free port of those that the installation announces. */
const startCommand = async (): Promise<Command> => {
  const called = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/login') called.resolve(searchParams);
    response.setHeader('content-type', 'text/html');
    response.end('<title>Back</title><p>The command has its answer.</p>');
  });
  onTestFinished(() => void server.close());
  for (let port = 10_000; port <= 10_010; port += 1)
    if (await listen(server, port))
      return { redirectUri: `http://localhost:${port}/login`, called: called.promise };
  throw new Error('every port from 10000 to 10010 is taken');
};

const pageFor = (redirectUri: string): string =>
  `/app/command-login?${new URLSearchParams({
    client_id: 'terraform-cli',
    code_challenge: hash('sha256', VERIFIER, 'base64url'),
    code_challenge_method: 'S256',
    redirect_uri: redirectUri,
    response_type: 'code',
    state: STATE,
  }).toString()}`;

const exchange = async (code: string, redirectUri: string) => {
  const answer = await fetch(`${site.origin()}/api/v2/command-logins/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'terraform-cli',
      code,
      redirect_uri: redirectUri,
      code_verifier: VERIFIER,
    }),
  });
  const document = (await answer.json()) as Readonly<Record<string, string>>;
  return { status: answer.status, document };
};

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
  const given = await exchange(code, redirectUri);
  expect(given.status).toBe(200);
  const own = await site.workspaces(
    'GET',
    'account/details',
    undefined,
    given.document['access_token'],
  );
  expect(own.data.attributes.username).toBe('admin');
  expect(await exchange(code, redirectUri)).toMatchObject(REFUSED);

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
  const refused = await exchange(parameters.get('code') ?? '', redirectUri);
  expect(refused).toMatchObject(REFUSED);

  const stranger = await site.openSignedIn(pageFor('https://evil.example/login'));
  await stranger.page.getByText('nothing is given to it').waitFor();
  expect(await stranger.page.getByRole('button', { name: 'Give the command' }).count()).toBe(0);

  // The port is none that the installation announces: the server refuses.
  const other = await site.openSignedIn(pageFor('http://localhost:9999/login'));
  await other.page.getByRole('button', { name: 'Give the command a token' }).click();
  await other.page.getByText('redirect-uri must be http://localhost:PORT/login').waitFor();
});
