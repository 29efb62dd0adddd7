/** The forms with settings of the site and of an organization: each stores the field that was changed, and nothing else. */
import type { JsonObject } from '@keelson/testkit/planned-run';
import { beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS, useConsole } from './console-harness.ts';
import { type EditedThing, expectOneFieldToChange } from './edit-walk.ts';

const site = useConsole();
const O = 'organizations/acme';

const create = (type: string, attributes: object): object => ({ data: { type, attributes } });

const LIFETIMES = `${O}/token-ttl-policies`;

/** Limits in milliseconds by the kind of token. */
const lifetimes = async (): Promise<JsonObject> => {
  const { data } = await site.workspaces('GET', LIFETIMES);
  return Object.fromEntries(
    data.map(({ attributes }: JsonObject) => [attributes['token-type'], attributes['max-ttl-ms']]),
  );
};

const storeLifetimes = (members: object): Promise<unknown> =>
  site.workspaces(
    'PATCH',
    LIFETIMES,
    create('organization-token-ttl-policies', {
      'token-ttl-policies': Object.entries(members).map(([kind, ms]) => ({
        'token-type': kind,
        'max-ttl-ms': ms,
      })),
    }),
  );

/** Things of the site and of an organization as a whole. */
const settingsThings = (personId: string): readonly EditedThing[] => [
  {
    form: 'organization',
    at: '/app/acme/settings',
    save: 'Save access',
    path: `api/v2/${O}`,
    field: 'API tokens of members give access',
    values: ['true', 'false'],
    stored: (given) => ({ 'user-tokens-enabled': given === 'true' }),
    meanwhile: { 'members-leave-with-last-team': true },
  },
  {
    form: 'token-lifetimes',
    at: '/app/acme/settings',
    save: 'Save lifetimes',
    path: `api/v2/${LIFETIMES}`,
    field: 'Of a team',
    values: ['730d', '36h', '90d'],
    stored: (text) => ({
      team: Number.parseInt(text, 10) * (text.endsWith('d') ? 86_400_000 : 3_600_000),
    }),
    meanwhile: { user: 3_600_000, audit_trails: 7_200_000 },
    read: lifetimes,
    write: storeLifetimes,
  },
  {
    form: 'sign-in-settings',
    at: '/app/settings/sign-in',
    save: 'Save passwords, passkeys and sessions',
    path: 'api/v2/admin/sign-in-settings',
    field: 'Minutes from a sign-in to its end',
    values: ['600', '60', '120'],
    stored: (minutes) => ({ 'session-minutes': Number(minutes) }),
    meanwhile: { 'passwords-enabled': true },
  },
  {
    form: 'sso-settings',
    at: '/app/settings/sign-in',
    save: 'Save single sign-on',
    path: 'api/v2/admin/sso-settings',
    field: 'Name by which people know it',
    values: ['', 'the directory', 'the provider'],
    stored: (title) => ({ title }),
    meanwhile: { scopes: ['email', 'groups'], 'username-claim': 'upn', 'links-users': true },
  },
  {
    form: 'person',
    at: '/app/settings/people?text=ada',
    button: 'Edit: ada',
    path: `api/v2/admin/users/${personId}`,
    field: 'Mail address',
    values: ['ada@b.example', 'ada@c.example', 'ada@d.example'],
    stored: (email) => ({ email }),
    meanwhile: { 'is-site-admin': true },
  },
];

beforeAll(async () => {
  const acme = create('organizations', { name: 'acme', email: 'a@b.example' });
  await site.workspaces('POST', 'organizations', acme);
}, PATIENCE_MS);

describe('an edited thing', { timeout: PATIENCE_MS * 2 }, () => {
  test('keeps what was not touched, in the settings of the site and of an organization', async () => {
    const { page, problems } = await site.openSignedIn('/app');
    const ada = create('users', { username: 'ada', email: 'ada@a.example' });
    const { data } = await site.workspaces('POST', 'admin/users', ada);
    for (const thing of settingsThings(data.id)) await expectOneFieldToChange(site, page, thing);
    expect(problems).toEqual([]);
  });
});
