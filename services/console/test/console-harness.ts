/** The console in Chromium, served by a standalone control plane for this test file alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type NatsServer, startKeelson, startNats, temporaryDirectory } from '@keelson/testkit';
import {
  type Browser,
  launchChromium,
  openPage,
  type Page,
  type WatchedPage,
} from '@keelson/testkit/chromium';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';

export const PATIENCE_MS = 180_000;

export interface ConsoleUnderTest {
  /** "http://127.0.0.1:PORT" */
  readonly origin: () => string;
  readonly rootToken: () => string;
  readonly apiToken: () => string;
  readonly unsealKeys: () => readonly string[];
  /** Sends a POST below `/v1/`; returns the answer's body. */
  readonly secrets: (path: string, body: object, namespace?: string) => Promise<JsonObject>;
  /**
   * Sends a request below `/api/v2/`; returns the answer's document. `token` defaults to the first
   * user's.
   */
  readonly workspaces: (
    method: string,
    path: string,
    body?: object,
    token?: string,
  ) => Promise<JsonObject>;
  /** Opens a page in a new profile; closed after the test. */
  readonly open: (path?: string) => Promise<WatchedPage>;
  /** Opens a page with both tokens given, those of the first user unless others are named. */
  readonly openSignedIn: (
    path: string,
    tokens?: { readonly secrets?: string; readonly workspaces?: string },
  ) => Promise<WatchedPage>;
  /** Creates a user, adds it to the team, and returns a token of the user. */
  readonly addUser: (username: string, teamId: string) => Promise<string>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- answers of many shapes, judged by the tests
export type JsonObject = any;

export interface ConsoleOptions {
  /** Whether the control plane has a nats-server, which replication needs. */
  readonly hasNats?: boolean;
  /** Further settings of the control plane. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts everything before the tests of the file and stops it afterwards. */
export const useConsole = ({
  hasNats = false,
  env = {},
}: ConsoleOptions = {}): ConsoleUnderTest => {
  let nats: NatsServer | undefined;
  let keelson: Awaited<ReturnType<typeof startKeelson>>;
  let browser: Browser;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  beforeAll(async () => {
    directory = await temporaryDirectory();
    nats = hasNats ? await startNats({ jetstream: true }) : undefined;
    keelson = await startKeelson({
      dataFolder: directory.path,
      env: {
        // The tests and the page share a token, and together exceed its 30 requests per second.
        KEELSON_RATE_LIMIT: 'off',
        ...(nats && { KEELSON_NATS_URL: nats.url }),
        ...env,
      },
    });
    browser = await launchChromium();
  }, PATIENCE_MS);
  afterAll(async () => {
    await browser.close();
    await keelson.stop();
    await nats?.[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  const call = async (url: string, init: RequestInit): Promise<JsonObject> => {
    const answer = await fetch(`${keelson.http}${url}`, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const open = async (path = '/ui/'): Promise<WatchedPage> => {
    const opened = await openPage(browser, `${keelson.http}${path}`);
    onTestFinished(() => opened.page.context().close());
    return opened;
  };
  const workspaces: ConsoleUnderTest['workspaces'] = (
    method,
    path,
    body,
    token = keelson.apiToken,
  ) =>
    call(`/api/v2/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/vnd.api+json',
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  return {
    origin: () => keelson.http,
    rootToken: () => keelson.rootToken,
    apiToken: () => keelson.apiToken,
    unsealKeys: () => {
      const file = readFileSync(join(keelson.dataFolder, 'first-run.json'), 'utf8');
      return (JSON.parse(file) as { unseal_keys: readonly string[] }).unseal_keys;
    },
    secrets: (path, body, namespace = '') =>
      call(`/v1/${path}`, {
        method: 'POST',
        headers: {
          'x-service-token': keelson.rootToken,
          'content-type': 'application/json',
          ...(namespace !== '' && { 'x-service-namespace': namespace }),
        },
        body: JSON.stringify(body),
      }),
    workspaces,
    addUser: async (username, teamId) => {
      const email = `${username}@b.example`;
      const { data: user } = await workspaces('POST', 'admin/users', {
        data: { type: 'users', attributes: { username, email } },
      });
      await workspaces('POST', `teams/${teamId}/relationships/users`, {
        data: [{ type: 'users', id: username }],
      });
      const { data: token } = await workspaces('POST', `users/${user.id}/authentication-tokens`, {
        data: { type: 'authentication-tokens', attributes: { description: 'test' } },
      });
      return token.attributes.token;
    },
    open,
    openSignedIn: async (
      path,
      { secrets = keelson.rootToken, workspaces: apiToken = keelson.apiToken } = {},
    ) => {
      const opened = await open('/ui/');
      await signIn(opened.page, secrets);
      const kept = JSON.stringify({ secrets, workspaces: apiToken, namespace: '' });
      await opened.page.evaluate(
        `sessionStorage.setItem('keelson-session', ${JSON.stringify(kept)})`,
      );
      await opened.page.goto(`${keelson.http}${path}`);
      await opened.page.getByRole('button', { name: 'Sign out' }).waitFor();
      return opened;
    },
  };
};

export const signIn = async (page: Page, token: string, namespace = ''): Promise<void> => {
  if (namespace !== '') await page.getByLabel('Namespace').fill(namespace);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out', includeHidden: true }).waitFor();
};

export const titled = (page: Page, title: string) =>
  expect.poll(() => page.title()).toBe(`${title} · Keelson`);

/** Expects that the page does not scroll sideways on a phone. */
export const expectFitsTelephone = async (page: Page): Promise<void> => {
  await page.setViewportSize({ width: 360, height: 640 });
  const overhang = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  expect(overhang).toBeLessThanOrEqual(0);
};
