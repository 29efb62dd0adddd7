/** The page from which people sign in to applications, with an unmodified client of OpenID Connect. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@keelson/testkit/chromium';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { faultsInVariants } from './page-faults.ts';

const site = useConsole();
const PASSWORD = 'correct horse';
const NAMESPACE = 'team';

interface Application extends AsyncDisposable {
  readonly redirectUri: string;
  /** The address with which the next browser comes back. */
  readonly called: () => Promise<URL>;
}

/** An application that browsers come back to. */
const startApplication = async (): Promise<Application> => {
  let next = Promise.withResolvers<URL>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', redirectUri());
    if (url.pathname === '/callback') {
      next.resolve(url);
      next = Promise.withResolvers<URL>();
    }
    response.setHeader('content-type', 'text/html');
    response.end('<title>Application</title><h1>The application</h1>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const redirectUri = (): string =>
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  return {
    redirectUri: redirectUri(),
    called: () => next.promise,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

let application: Application;
let client: Configuration;
let clientId: string;

beforeAll(async () => {
  application = await startApplication();
  await site.secrets(`sys/namespaces/${NAMESPACE}`, {});
  const ask = (path: string, body: object) => site.secrets(path, body, NAMESPACE);
  await ask('sys/auth/people', {
    type: 'userpass',
    description: 'the people',
    config: { listing_visibility: 'unauth' },
  });
  for (const name of ['ada', 'bob']) await ask(`auth/people/users/${name}`, { password: PASSWORD });
  const login = await ask('auth/people/login/ada', { password: PASSWORD });
  const entity = login.auth.entity_id;
  await ask(`identity/entity/id/${entity}`, { metadata: { mail: 'ada@x.example' } });
  await ask('identity/oidc/scope/mail', {
    template: '{"email": {{identity.entity.metadata.mail}}}',
  });
  await ask('identity/oidc/assignment/staff', { entity_ids: entity });
  await ask('identity/oidc/client/app', {
    redirect_uris: application.redirectUri,
    assignments: 'staff',
  });
  const { data } = await site.readSecret('identity/oidc/client/app', NAMESPACE);
  clientId = data.client_id;
  await ask('identity/oidc/provider/main', {
    issuer: site.origin(),
    allowed_client_ids: clientId,
    scopes_supported: 'mail',
  });
  client = await discovery(
    new URL(`${site.origin()}/v1/${NAMESPACE}/identity/oidc/provider/main`),
    clientId,
    undefined,
    ClientSecretBasic(data.client_secret),
    { execute: [allowInsecureRequests] },
  );
}, PATIENCE_MS);
afterAll(() => application[Symbol.asyncDispose]());

/** A login that the application begins, and what it must find in the answer. */
const begin = async (more: Readonly<Record<string, string>> = {}) => {
  const [verifier, state, nonce] = [randomPKCECodeVerifier(), randomState(), randomNonce()];
  const url = buildAuthorizationUrl(client, {
    redirect_uri: application.redirectUri,
    scope: 'openid mail',
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...more,
  });
  return {
    url: url.href.slice(site.origin().length),
    checks: { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce },
  };
};

const signInAs = async (page: Page, name: string): Promise<void> => {
  const form = page.getByRole('form', { name: 'Sign in with a password' });
  await form.getByLabel('User name').fill(name);
  await form.getByLabel('Password').fill(PASSWORD);
  await form.getByRole('button', { name: 'Sign in' }).click();
};

describe('client-sign-in', { timeout: PATIENCE_MS }, () => {
  test('asks whoever is not signed in to do so, and sends them back to the application with a code for its tokens', async () => {
    const { url, checks } = await begin();
    const called = application.called();
    const { page, problems } = await site.open(url);
    await signInAs(page, 'ada');
    await page.getByRole('heading', { name: 'The application' }).waitFor();
    const tokens = await authorizationCodeGrant(client, await called, checks);
    const claims = tokens.claims();
    expect(claims).toMatchObject({
      iss: `${site.origin()}/v1/${NAMESPACE}/identity/oidc/provider/main`,
      aud: clientId,
      email: 'ada@x.example',
      nonce: checks.expectedNonce,
    });
    const info = await fetchUserInfo(client, tokens.access_token, claims?.sub ?? '');
    expect(info).toEqual({ sub: claims?.sub, email: 'ada@x.example' });
    expect(problems).toEqual([]);

    // Whoever is signed in goes through without a question, unless the application asks for one.
    const again = await begin();
    const calledAgain = application.called();
    await page.goto(site.origin() + again.url);
    await page.getByRole('heading', { name: 'The application' }).waitFor();
    await authorizationCodeGrant(client, await calledAgain, again.checks);
    const asked = await begin({ prompt: 'login consent' });
    const calledThen = application.called();
    await page.goto(site.origin() + asked.url);
    await page.getByText('The application asks you to sign in again.').waitFor();
    await signInAs(page, 'ada');
    const agree = page.getByRole('button', { name: 'Sign in to the application' });
    await agree.waitFor();
    expect(await faultsInVariants(page, 'sign-in to an application')).toEqual({});
    await agree.click();
    await page.getByRole('heading', { name: 'The application' }).waitFor();
    await authorizationCodeGrant(client, await calledThen, asked.checks);
  });

  test('tells the application of a person who may not, and sends nothing to another address', async () => {
    const { url, checks } = await begin();
    const called = application.called();
    const { page } = await site.open(url);
    await signInAs(page, 'bob');
    await page.getByRole('heading', { name: 'The application' }).waitFor();
    await expect(authorizationCodeGrant(client, await called, checks)).rejects.toMatchObject({
      error: 'access_denied',
    });
    const { url: other } = await begin({ redirect_uri: 'http://evil.example/callback' });
    await page.goto(site.origin() + other);
    await page.getByText('redirect_uri is not allowed for the client').waitFor();
    await page.getByRole('button', { name: 'Sign in as somebody else' }).click();
    await page.getByRole('form', { name: 'Sign in with a password' }).waitFor();
  });
});
