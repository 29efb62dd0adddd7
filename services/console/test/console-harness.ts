/** The console in Chromium, served by a control plane for this test file alone. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { awaitAnswer, type NatsServer, startNats, temporaryDirectory } from '@keelson/testkit';
import { storeSession, type Tokens } from '@keelson/testkit/browser-session';
import {
  type Browser,
  launchChromium,
  openPage,
  type Page,
  type WatchedPage,
} from '@keelson/testkit/chromium';
import type { JsonObject, RunSite } from '@keelson/testkit/planned-run';
import { afterAll, beforeAll, expect, onTestFinished, vi } from 'vitest';
import { type ControlPlane, type OwnControlPlane, startControlPlane } from './control-plane.ts';
import { PICTURES } from './page-faults.ts';

export const PATIENCE_MS = 180_000;

type Prepare = (page: Page) => Promise<unknown>;

export interface ConsoleUnderTest extends RunSite {
  readonly rootToken: () => string;
  readonly apiToken: () => string;
  readonly unsealKeys: () => readonly string[];
  /** Opens the seal that a restored snapshot has brought, unless the control plane does so by itself. */
  readonly reopen: () => Promise<void>;
  /** A folder for files of the control plane, removed after the tests. */
  readonly folder: () => string;
  /** Address of the nats-server; "" without one. */
  readonly natsUrl: () => string;
  /** Waits until a GET below `/api/v2/` is answered as wanted; returns what `wanted` makes of the body. */
  readonly until: <T>(path: string, wanted: (body: JsonObject) => T | undefined) => Promise<T>;
  /** Sends a POST below `/v1/`; returns the answer's body. */
  readonly secrets: (path: string, body: object, namespace?: string) => Promise<JsonObject>;
  /** Sends a PATCH below `/v1/` that changes only what it gives. */
  readonly patchSecret: (path: string, body: object, namespace?: string) => Promise<JsonObject>;
  /** Reads below `/v1/`; returns the answer's body. */
  readonly readSecret: (path: string, namespace?: string) => Promise<JsonObject>;
  /** Waits until every service serves requests, as after the opening of the seal. */
  readonly untilReady: () => Promise<void>;
  /** Opens a page in a new profile; closed after the test. @param prepare is called before the page is loaded */
  readonly open: (path?: string, prepare?: Prepare) => Promise<WatchedPage>;
  /** Opens a page with both tokens given, those of the first user in the root namespace unless others are named. */
  readonly openSignedIn: (
    path: string,
    session?: {
      readonly secrets?: string;
      readonly workspaces?: string;
      readonly namespace?: string;
      /** Is called before the page is loaded. */
      readonly prepare?: Prepare;
    },
  ) => Promise<WatchedPage>;
  /** Creates a user, adds it to the team, and returns a token of the user. */
  readonly addUser: (username: string, teamId: string) => Promise<string>;
}

export interface ConsoleOptions {
  /** Whether the control plane has a nats-server, which replication needs. */
  readonly hasNats?: boolean;
  /** The nats-server of another control plane, with which this one replicates. */
  readonly natsUrl?: () => string;
  /** Further settings of the control plane. */
  readonly env?: Readonly<Record<string, string>>;
}

let keptPages = 0;

/** Leaves a picture and the text of a page of a test that failed, next to those of all pages. */
const keepFailedPage = async (page: Page, test: string): Promise<void> => {
  keptPages += 1;
  const name = join(PICTURES, `failed-${test.replaceAll(/\W+/g, '-').slice(0, 60)}-${keptPages}`);
  await page.screenshot({ path: `${name}.png`, fullPage: true });
  await writeFile(`${name}.txt`, await page.evaluate<string>('document.body.innerText'));
};

/** Chromium for the tests of one file. @param plane the control plane, read when it is used */
export const useChromiumOn = (
  plane: () => ControlPlane,
): Omit<ConsoleUnderTest, 'unsealKeys' | 'reopen' | 'natsUrl' | 'folder'> => {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launchChromium();
  }, PATIENCE_MS);
  afterAll(() => browser?.close());

  const call = async (url: string, init: RequestInit): Promise<JsonObject> => {
    const answer = await fetch(`${plane().http}${url}`, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const callSecrets = (
    path: string,
    namespace = '',
    { method, contentType, body }: { method: string; contentType?: string; body?: object },
  ): Promise<JsonObject> =>
    call(`/v1/${path}`, {
      method,
      headers: {
        'x-service-token': plane().rootToken,
        ...(contentType !== undefined && { 'content-type': contentType }),
        ...(namespace !== '' && { 'x-service-namespace': namespace }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const openWith = async (
    path: string,
    session?: Tokens & { readonly namespace: string },
    prepare?: Prepare,
  ): Promise<WatchedPage> => {
    if (browser === undefined) throw new Error('Chromium is launched before the tests');
    const opened = await openPage(browser, 'about:blank');
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') await keepFailedPage(opened.page, task.name);
      await opened.page.context().close();
    });
    if (session !== undefined) {
      const context = opened.page.context();
      const signIn = await storeSession(context, plane().http, session, session.namespace);
      // It runs before the scripts of every page. One that has signed out stays so when it is loaded again.
      await opened.page.addInitScript({
        content: `if (sessionStorage.getItem('keelson-test') === null) {
          sessionStorage.setItem('keelson-test', 'signed in');
          ${signIn}
        }`,
      });
    }
    await prepare?.(opened.page);
    await opened.page.goto(`${plane().http}${path}`);
    return opened;
  };
  const open = (path = '/ui/', prepare?: Prepare): Promise<WatchedPage> =>
    openWith(path, undefined, prepare);
  const workspaces: ConsoleUnderTest['workspaces'] = (
    method,
    path,
    body,
    token = plane().apiToken,
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
    origin: () => plane().http,
    rootToken: () => plane().rootToken,
    apiToken: () => plane().apiToken,
    secrets: (path, body, namespace) =>
      callSecrets(path, namespace, {
        method: 'POST',
        contentType: 'application/json',
        body,
      }),
    patchSecret: (path, body, namespace) =>
      callSecrets(path, namespace, {
        method: 'PATCH',
        contentType: 'application/merge-patch+json',
        body,
      }),
    readSecret: (path, namespace) => callSecrets(path, namespace, { method: 'GET' }),
    workspaces,
    until: (path, wanted) =>
      awaitAnswer(
        { origin: plane().http, headers: { authorization: `Bearer ${plane().apiToken}` } },
        `/api/v2/${path}`,
        ({ body }) => wanted(body),
      ),
    untilReady: async () => {
      const isReady = async () => (await fetch(`${plane().http}/readyz`)).ok;
      await vi.waitUntil(isReady, { timeout: PATIENCE_MS });
    },
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
      {
        secrets = plane().rootToken,
        workspaces: apiToken = plane().apiToken,
        namespace = '',
        prepare,
      } = {},
    ) => {
      const session = { secrets, workspaces: apiToken, namespace };
      const opened = await openWith(path, session, prepare);
      await opened.page.getByRole('button', { name: 'Sign out' }).waitFor();
      return opened;
    },
  };
};

/** Starts a control plane before the tests of the file and stops it afterwards. */
export const useConsole = ({
  hasNats = false,
  natsUrl,
  env = {},
}: ConsoleOptions = {}): ConsoleUnderTest => {
  let nats: NatsServer | undefined;
  let plane: OwnControlPlane;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  const natsAddress = (): string | undefined => nats?.url ?? natsUrl?.();
  beforeAll(async () => {
    directory = await temporaryDirectory();
    nats = hasNats ? await startNats({ jetstream: true }) : undefined;
    plane = await startControlPlane({ folder: directory.path, natsUrl: natsAddress(), env });
  }, PATIENCE_MS);
  afterAll(async () => {
    await plane.stop();
    await nats?.[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });
  return {
    ...useChromiumOn(() => plane),
    natsUrl: () => natsAddress() ?? '',
    folder: () => directory.path,
    unsealKeys: () => plane.unsealKeys,
    reopen: () => plane.reopen(),
  };
};

export const signIn = async (page: Page, token: string, namespace = ''): Promise<void> => {
  if (namespace !== '') await page.getByLabel('Namespace').fill(namespace);
  await page.getByRole('textbox', { name: 'Token', exact: true }).fill(token);
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
