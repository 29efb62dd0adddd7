/**
 * The look of the pages: of an installation with something in each of them, in both themes and three widths, compared
 * with stored pictures.
 */
import { hostname } from 'node:os';
import { shiftedClock } from '@keelson/testkit';
import type { Page } from '@keelson/testkit/chromium';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { LOOKS, type Look } from './looks.ts';
import { sidewaysFaults } from './page-faults.ts';
import { addPicturedCluster } from './pictured-cluster.ts';
import { addPicturedWorkspaces } from './pictured-workspaces.ts';
import { watchRequests } from './settled.ts';
import { holdStill, pictureOf, STARTED_AT } from './still-page.ts';
import { differenceOf, storedPictures } from './stored-pictures.ts';

const site = useConsole({
  hasNats: true,
  env: {
    ...shiftedClock(Date.parse(STARTED_AT) - Date.now()),
    KEELSON_CLUSTER_NAME: 'harbour',
  },
});

/** Paths that contain the id of what was added. */
let added: { readonly run: string; readonly team: string; readonly certificate: string };

interface Pictured {
  readonly path: string | (() => string);
  /** A button that is pressed before the picture is taken. */
  readonly pressed?: string;
  /** A text that the page shows until the server has changed what it is about. */
  readonly passing?: string;
}

const AUTHORITY = '/ui/certificates/pki';
const WORKSPACE = '/app/acme/workspaces/shop';

const CLUSTER: Readonly<Record<string, Pictured>> = {
  overview: { path: '/ui/' },
  messages: { path: '/ui/messages' },
  replication: { path: '/ui/replication' },
  policies: { path: '/ui/policies' },
  policy: { path: '/ui/policies/issues' },
  mounts: { path: '/ui/mounts' },
  'audit-devices': { path: '/ui/audit' },
  snapshots: { path: '/ui/snapshots' },
  namespaces: { path: '/ui/namespaces' },
  leases: { path: '/ui/leases' },
};

const NAMESPACE: Readonly<Record<string, Pictured>> = {
  tokens: { path: '/ui/tokens' },
};

const CERTIFICATES: Readonly<Record<string, Pictured>> = {
  authorities: { path: '/ui/certificates' },
  certificates: { path: AUTHORITY },
  issuers: { path: `${AUTHORITY}?tab=issuers` },
  keys: { path: `${AUTHORITY}?tab=keys` },
  roles: { path: `${AUTHORITY}?tab=roles` },
  role: { path: `${AUTHORITY}?tab=roles`, pressed: 'Edit web' },
  issuing: { path: `${AUTHORITY}?tab=roles`, pressed: 'Issue by web' },
  est: { path: `${AUTHORITY}?tab=est` },
  'external-policy': { path: `${AUTHORITY}?tab=policy` },
  'authority-settings': { path: `${AUTHORITY}?tab=settings` },
  issuer: { path: `${AUTHORITY}/issuer/default` },
  certificate: { path: () => added.certificate },
};

const WORKSPACES: Readonly<Record<string, Pictured>> = {
  organizations: { path: '/app' },
  account: { path: '/app/settings/account' },
  'api-tokens': { path: '/app/settings/tokens' },
  people: { path: '/app/settings/people' },
  person: { path: '/app/settings/people', pressed: 'More actions: ada' },
  workspaces: { path: '/app/acme/workspaces' },
  workspace: { path: WORKSPACE },
  runs: { path: `${WORKSPACE}?tab=runs` },
  states: { path: `${WORKSPACE}?tab=states` },
  variables: { path: `${WORKSPACE}?tab=variables` },
  'workspace-settings': { path: `${WORKSPACE}?tab=settings` },
  run: { path: () => added.run },
  projects: { path: '/app/acme/projects' },
  teams: { path: '/app/acme/teams' },
  team: { path: () => added.team },
  // An agent that has a run is lost once it has been silent for a minute.
  'agent-pools': { path: '/app/acme/agent-pools', passing: 'idle' },
  'variable-sets': { path: '/app/acme/variable-sets' },
  'version-control': { path: '/app/acme/version-control' },
  activity: { path: '/app/acme/activity' },
  organization: { path: '/app/acme/settings' },
};

/** For somebody without a session. */
const PUBLIC: Readonly<Record<string, Pictured>> = {
  'sign-in': { path: '/ui/' },
  reference: { path: '/docs/pki' },
};

/** Pages by the namespace of the session that shows them. */
const SESSIONS: readonly (readonly [string, Readonly<Record<string, Pictured>>])[] = [
  ['', CLUSTER],
  ['team', NAMESPACE],
  ['', CERTIFICATES],
  ['', WORKSPACES],
];

const pictureName = (page: string, { width, theme }: Look): string =>
  `page-${page}-${width}-${theme}`;

beforeAll(async () => {
  const certificate = await addPicturedCluster(site);
  added = { certificate, ...(await addPicturedWorkspaces(site)) };
}, PATIENCE_MS);

/** Replaces what answers say of the machine and of its requests, which is another in every run. */
const alikeAnswers = async (page: Page): Promise<void> => {
  const change = (path: string, changed: (text: string) => string) =>
    page.route(path, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: changed(await response.text()) });
    });
  await change('**/v1/sys/ha-status', (text) => text.replaceAll(hostname(), 'node-1'));
  await change('**/v1/sys/namespaces?*', (text) => text.replaceAll(/"id":"\w+"/g, '"id":"AAAAA"'));
  await change('**/v1/sys/internal/ui/recent-requests', (text) =>
    JSON.stringify({ ...JSON.parse(text), data: { requests: REQUESTS } }),
  );
};

const REQUESTS = ['create', 'read', 'update'].map((operation, at) => ({
  time: STARTED_AT,
  operation,
  namespace: '',
  path: 'pki/roles/web',
  status: [200, 404, 503][at],
  display_name: 'root',
  remote_address: '127.0.0.1',
}));

type Prepare = (page: Page) => Promise<void>;

type Opened = Awaited<ReturnType<typeof site.open>>;

/** Opens a page for all that is shown of one session. */
const openStill = async (
  open: (prepare: Prepare) => Promise<Opened>,
): Promise<Opened & { readonly settled: () => Promise<void> }> => {
  const watching = Promise.withResolvers<() => Promise<void>>();
  const opened = await open(async (page) => {
    await holdStill(page);
    await alikeAnswers(page);
    watching.resolve(watchRequests(page));
  });
  return { ...opened, settled: await watching.promise };
};

/** Compares the pages with their stored pictures. @returns what differs, by the name of the picture */
const differencesOf = async (
  { page, settled }: Awaited<ReturnType<typeof openStill>>,
  pages: Readonly<Record<string, Pictured>>,
): Promise<Record<string, string>> => {
  const found: Record<string, string> = {};
  for (const [name, { path, pressed, passing }] of Object.entries(pages)) {
    await page.goto(site.origin() + (typeof path === 'string' ? path : path()));
    await page.getByRole('heading').first().waitFor();
    await settled();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    if (passing !== undefined)
      await page
        .locator('td')
        .getByText(passing, { exact: true })
        .first()
        .waitFor({ state: 'detached' });
    if (pressed !== undefined) {
      const button = page.getByRole('button', { name: pressed });
      await button.click();
      const opened = await button.getAttribute('aria-haspopup');
      if (opened === 'dialog' || opened === 'menu') await page.getByRole(opened).waitFor();
      await settled();
    }
    for (const look of LOOKS) {
      const picture = pictureName(name, look);
      const difference = await differenceOf(picture, await pictureOf(page, look));
      const faults = [difference ?? [], await sidewaysFaults(page)].flat();
      if (faults.length > 0) found[picture] = faults.join('; ');
    }
  }
  return found;
};

describe('pictures', { timeout: PATIENCE_MS * 3 }, () => {
  test('show how every page looks', async () => {
    const openings = [
      ...SESSIONS.map(([namespace, pages]) => ({
        pages,
        open: (prepare: Prepare) => site.openSignedIn('/ui/policies', { namespace, prepare }),
      })),
      { pages: PUBLIC, open: (prepare: Prepare) => site.open('/ui/', prepare) },
    ];
    // At the same time, because a browser draws one page while a picture of another is compared.
    const found = await Promise.all(
      openings.map(async ({ pages, open }) => {
        const opened = await openStill(open);
        return { ...(await differencesOf(opened, pages)), problems: opened.problems };
      }),
    );
    expect(found).toEqual(openings.map(() => ({ problems: [] })));
  });

  test('are of these pages alone', async () => {
    const pages = [...SESSIONS.map(([, shown]) => shown), PUBLIC].flatMap(Object.keys);
    const names = pages.flatMap((page) => LOOKS.map((look) => pictureName(page, look)));
    expect((await storedPictures('page-')).toSorted()).toEqual(names.toSorted());
  });
});
