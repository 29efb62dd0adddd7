import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  addAccount,
  enablePasswords,
  PASSWORD,
  type Site,
  signIn,
  startSite,
  tokenOf,
} from '../../../test/password-accounts.ts';
import type { Harness, Reply } from '../../../test/workspace-harness.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TWO_YEARS_MS = 730 * DAY_MS;
const ACME = '/organizations/acme';
const LIMITS = `${ACME}/token-ttl-policies`;

let site: Site;
let harness: Harness;
/** An owner of both organizations, with a session, which no limit concerns. */
let erin: { readonly id: string; readonly session: string };

beforeAll(async () => {
  site = await startSite();
  ({ harness } = site);
  await enablePasswords(harness, { 'session-minutes': 129_600 });
  const owners: string[] = [];
  for (const name of ['acme', 'globex']) {
    await harness.create('/organizations', 'organizations', { name, email: 'a@b.example' });
    const { list } = await harness.call('GET', `/organizations/${name}/teams`);
    owners.push(...list.map(({ id }) => id));
  }
  const { id } = await addAccount(harness, site.mail, 'erin', ...owners);
  erin = { id, session: await tokenOf(signIn(harness, 'erin', PASSWORD)) };
});
afterAll(() => site[Symbol.asyncDispose]());

const send = (method: string, target: string, type: string, attributes: object, token?: string) =>
  harness.call(method, target, { data: { type, attributes } }, token ?? erin.session);

const limit = (limits: Readonly<Record<string, number>>, token?: string): Promise<Reply> =>
  send(
    'PATCH',
    LIMITS,
    'organization-token-ttl-policies',
    {
      'token-ttl-policies': Object.entries(limits).map(([tokenType, ms]) => ({
        'token-type': tokenType,
        'max-ttl-ms': ms,
      })),
    },
    token,
  );

const turn = (isOn: boolean, token?: string): Promise<Reply> =>
  send('PATCH', ACME, 'organizations', { 'max-ttl-enabled': isOn }, token);

const inMs = (ms: number): string => new Date(harness.clock.nowMs() + ms).toISOString();

const make = (path: string, attributes: object = {}, token = erin.session): Promise<Reply> =>
  send('POST', path, 'authentication-tokens', attributes, token);

const textOf = ({ data }: Reply): string => String(data.attributes['token']);
const lifetimeOf = ({ data }: Reply): number =>
  Date.parse(String(data.attributes['expired-at'])) -
  Date.parse(String(data.attributes['created-at']));

const statusFor = async (token: string, target = ACME): Promise<number> =>
  (await harness.call('GET', target, undefined, token)).status;

const listed = async (): Promise<Readonly<Record<string, unknown>>> => {
  const { list } = await harness.call('GET', LIMITS, undefined, erin.session);
  return Object.fromEntries(
    list.map(({ attributes }) => [attributes['token-type'], attributes['max-ttl-ms']]),
  );
};

beforeEach(async () => {
  await limit({
    organization: TWO_YEARS_MS,
    team: TWO_YEARS_MS,
    user: TWO_YEARS_MS,
    audit_trails: TWO_YEARS_MS,
  });
  await turn(false);
});

describe('limits for the lifetime of tokens', () => {
  test('are two years for each kind until somebody changes one', async () => {
    const { status, list, meta } = await harness.call(
      'GET',
      '/organizations/globex/token-ttl-policies',
    );
    expect([status, meta.pagination['total-count']]).toEqual([200, 4]);
    expect(
      list.map(({ attributes }) => [attributes['token-type'], attributes['max-ttl-ms']]),
    ).toEqual(['organization', 'team', 'user', 'audit_trails'].map((type) => [type, TWO_YEARS_MS]));
    expect(new Set(list.map(({ id }) => id)).size).toBe(4);
  });

  test('change one by one, and the answer lists all', async () => {
    const changed = await limit({ team: DAY_MS });
    expect(changed.list.length).toBe(4);
    expect(changed.meta.warnings).toEqual([expect.stringContaining('max-ttl-enabled')]);
    expect((await turn(true)).data.attributes['max-ttl-enabled']).toBe(true);
    expect((await limit({ audit_trails: DAY_MS })).meta?.warnings).toBeUndefined();
    expect(await listed()).toEqual({
      organization: TWO_YEARS_MS,
      team: DAY_MS,
      user: TWO_YEARS_MS,
      audit_trails: DAY_MS,
    });
  });

  test.for([
    [[], 'token-ttl-policies'],
    [[{ 'token-type': 'agent', 'max-ttl-ms': DAY_MS }], 'token-ttl-policies/0/token-type'],
    [[{ 'token-type': 'user', 'max-ttl-ms': 59_999 }], 'token-ttl-policies/0/max-ttl-ms'],
    [[{ 'token-type': 'user', 'max-ttl-ms': 4e12 }], 'token-ttl-policies/0/max-ttl-ms'],
    [[{ 'token-type': 'user', 'max-ttl-ms': DAY_MS + 0.5 }], 'token-ttl-policies/0/max-ttl-ms'],
    [
      [
        { 'token-type': 'user', 'max-ttl-ms': DAY_MS },
        { 'token-type': 'user', 'max-ttl-ms': HOUR_MS },
      ],
      'token-ttl-policies',
    ],
  ] as const)('refuse %j, and name %s', async ([given, field]) => {
    const body = { 'token-ttl-policies': given };
    const refused = await send('PATCH', LIMITS, 'organization-token-ttl-policies', body);
    expect([refused.status, refused.errors[0]?.source?.pointer]).toEqual([
      422,
      `/data/attributes/${field}`,
    ]);
    expect((await listed())['user']).toBe(TWO_YEARS_MS);
  });
});

describe('whoever limits lifetimes', () => {
  test('does not shut the door from outside', async () => {
    const body = { name: 'initech', email: 'a@b.example', 'max-ttl-enabled': true };
    const made = await send('POST', '/organizations', 'organizations', body, harness.adminToken);
    const on = await turn(true, harness.adminToken);
    await limit({ user: DAY_MS });
    await turn(true);
    const path = `/users/${erin.id}/authentication-tokens`;
    const own = textOf(await make(path, { 'expired-at': inMs(DAY_MS) }));
    const shorter = await limit({ user: HOUR_MS }, own);
    for (const [refused, field] of [
      [made, 'max-ttl-enabled'],
      [on, 'max-ttl-enabled'],
      [shorter, 'token-ttl-policies'],
    ] as const)
      expect([refused.status, refused.errors[0]?.source?.pointer]).toEqual([
        422,
        `/data/attributes/${field}`,
      ]);
    expect((await limit({ user: DAY_MS }, own)).status).toBe(200);
  });
});

describe('a token of an organization or team', () => {
  let teams = 0;
  const teamTokens = async (): Promise<string> => {
    const { id } = await harness.create(`${ACME}/teams`, 'teams', {
      name: `team-${++teams}`,
      visibility: 'organization',
    });
    return `/teams/${id}/authentication-tokens`;
  };

  test('that would live too long is refused when it is made, and lives as long as allowed by itself', async () => {
    const team = await teamTokens();
    await turn(true);
    await limit({ team: DAY_MS, organization: HOUR_MS, audit_trails: 2 * DAY_MS });
    for (const [path, longest, opened] of [
      [team, DAY_MS, ACME],
      [`${ACME}/authentication-token`, HOUR_MS, ACME],
      [`${ACME}/authentication-token?token=audit-trails`, 2 * DAY_MS, '/organization/audit-trail'],
    ] as const) {
      for (const expiry of [null, inMs(longest + 1000)]) {
        const refused = await make(path, { description: 'long', 'expired-at': expiry });
        expect([refused.status, refused.errors[0]?.source?.pointer]).toEqual([
          422,
          '/data/attributes/expired-at',
        ]);
        expect(refused.errors[0]?.detail).toContain(inMs(longest));
      }
      const usual = await make(path, { description: 'usual' });
      expect([usual.status, lifetimeOf(usual)]).toEqual([201, longest]);
      const given = await make(path, { description: 'exact', 'expired-at': inMs(longest) });
      expect([given.status, await statusFor(textOf(given), opened)]).toEqual([201, 200]);
    }
  });

  test('that lives too long is refused from the next request on, until the limit allows it again', async () => {
    const team = await teamTokens();
    const long = textOf(await make(team, { description: 'long', 'expired-at': null }));
    const short = textOf(await make(team, { description: 'short', 'expired-at': inMs(HOUR_MS) }));
    const own = textOf(await make(`${ACME}/authentication-token`));
    const all = () => Promise.all([long, short, own].map((token) => statusFor(token)));
    expect(await all()).toEqual([200, 200, 200]);
    await limit({ team: DAY_MS });
    expect(await all()).toEqual([200, 200, 200]);
    await turn(true);
    expect(await all()).toEqual([401, 200, 200]);
    await limit({ organization: DAY_MS });
    expect(await all()).toEqual([401, 200, 401]);
    await turn(false);
    expect(await all()).toEqual([200, 200, 200]);
  });

  test('of an agent pool lives on, as its machine was set up with it', async () => {
    const pool = await harness.create(`${ACME}/agent-pools`, 'agent-pools', { name: 'pool' });
    await turn(true);
    await limit({ organization: HOUR_MS, team: HOUR_MS, user: HOUR_MS });
    const made = await make(`/agent-pools/${pool.id}/authentication-tokens`, { description: 'a' });
    expect([made.status, made.data.attributes['expired-at']]).toEqual([201, null]);
    expect((await harness.service.identity.identify({ token: textOf(made) })).principal?.kind).toBe(
      'agent',
    );
  });
});

describe('a token of a user', () => {
  test('that lives too long gives no access to the organization, and to every other one as before', async () => {
    const { id } = await harness.create(`${ACME}/workspaces`, 'workspaces', { name: 'guarded' });
    const path = `/users/${erin.id}/authentication-tokens`;
    const short = textOf(await make(path, { 'expired-at': inMs(HOUR_MS) }));
    const long = textOf(await make(path, { 'expired-at': inMs(DAY_MS + 1000) }));
    const seenBy = async (token: string) => [
      await statusFor(token),
      await statusFor(token, `/workspaces/${id}`),
      await statusFor(token, `${ACME}/workspaces`),
      await statusFor(token, '/organizations/globex'),
      (await harness.call('GET', '/organizations', undefined, token)).list.length,
    ];
    expect(await seenBy(long)).toEqual([200, 200, 200, 200, 2]);
    await limit({ user: DAY_MS });
    await turn(true);
    expect(await seenBy(long)).toEqual([403, 403, 403, 200, 1]);
    expect(await seenBy(short)).toEqual([200, 200, 200, 200, 2]);
    expect(await seenBy(erin.session)).toEqual([200, 200, 200, 200, 2]);
    const refused = await harness.call('GET', ACME, undefined, long);
    expect(refused.errors[0]?.detail).toContain('acme');
    // Nor does such a token undo the limit, whatever it opens else.
    expect((await turn(false, long)).status).toBe(403);
    expect((await limit({ user: TWO_YEARS_MS }, long)).status).toBe(403);
  });

  test('is made with a warning where it lives too long for one organization of the user', async () => {
    const path = `/users/${erin.id}/authentication-tokens`;
    await limit({ user: DAY_MS });
    await turn(true);
    const long = await make(path, { 'expired-at': inMs(2 * DAY_MS) });
    expect([long.status, long.meta.warnings]).toEqual([
      201,
      [expect.stringContaining('the organization acme accepts only tokens that end by')],
    ]);
    const usual = await make(path);
    expect([usual.meta, lifetimeOf(usual)]).toEqual([undefined, DAY_MS]);
    expect(await statusFor(textOf(usual))).toBe(200);
  });

  test('says nothing of an organization to somebody outside', async () => {
    const { token } = await harness.addUser('stranger');
    await limit({ user: HOUR_MS });
    await turn(true);
    expect([await statusFor(token), await statusFor(token, LIMITS)]).toEqual([404, 404]);
  });
});
