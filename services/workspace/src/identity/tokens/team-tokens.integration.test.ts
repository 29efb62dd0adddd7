import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';
import { hashToken, tokenRecords } from '../model/token-records.ts';

const O = '/organizations/acme';
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
});
afterAll(() => harness[Symbol.asyncDispose]());

const makeTeam = async (name: string) => (await harness.create(`${O}/teams`, 'teams', { name })).id;
const tokensOf = (teamId: string) => `/teams/${teamId}/authentication-tokens`;
const singleOf = (teamId: string) => `/teams/${teamId}/authentication-token`;
const issue = (path: string, attributes: object = {}) =>
  harness.create(path, 'authentication-tokens', attributes);
const isGood = async (token: unknown) =>
  (await harness.call('GET', '/account/details', undefined, String(token))).status === 200;

describe('tokens of a team', () => {
  test('are distinguished by their descriptions', async () => {
    const team = await makeTeam('many');
    const [ci, cd] = [
      await issue(tokensOf(team), { description: 'ci' }),
      await issue(tokensOf(team), { description: 'cd' }),
    ];
    expect(ci.relationships['team']?.data).toEqual({ id: team, type: 'teams' });
    const { data: account } = await harness.call('GET', '/account/details');
    expect(ci.relationships['created-by']?.data).toEqual({ id: account.id, type: 'users' });
    const body = { data: { type: 'authentication-tokens', attributes: { description: 'ci' } } };
    const again = await harness.call('POST', tokensOf(team), body);
    expect(again.status).toBe(422);
    expect(again.errors[0]).toMatchObject({
      detail: 'Validation failed: Description has already been taken',
      source: { pointer: '/data/attributes/description' },
    });
    expect(await isGood(ci.attributes['token'])).toBe(true);
    expect(await isGood(cd.attributes['token'])).toBe(true);
  });

  test('show their text once, and are stored without it', async () => {
    const team = await makeTeam('once');
    const made = await issue(tokensOf(team), { description: 'once' });
    for (const path of [
      tokensOf(team),
      `/authentication-tokens/${made.id}`,
      `${O}/team-tokens?q=once`,
    ]) {
      const { list, data } = await harness.call('GET', path);
      expect((list[0] ?? data).attributes).toMatchObject({ description: 'once', token: null });
    }
    const text = String(made.attributes['token']);
    const kept = await tokenRecords.find(harness.store, hashToken(text));
    expect(kept).toMatchObject({ id: made.id });
    expect(JSON.stringify(kept)).not.toContain(text);
  });

  test.for(['2020-01-01T00:00:00Z', 'tomorrow'])(
    'cannot be created with the expiry %s',
    async (expiry) => {
      const attributes = { description: 'late', 'expired-at': expiry };
      const { status, errors } = await harness.call(
        'POST',
        tokensOf(await makeTeam(`t${expiry[0]}`)),
        {
          data: { type: 'authentication-tokens', attributes },
        },
      );
      expect([status, errors[0]?.source?.pointer]).toEqual([422, '/data/attributes/expired-at']);
    },
  );

  test('expire at the given time, which must be in the future', async () => {
    const tokens = tokensOf(await makeTeam('ending'));
    const attributes = (ms: number) => ({
      description: `in ${ms}`,
      'expired-at': new Date(harness.clock.nowMs() + ms).toISOString(),
    });
    const now = { data: { type: 'authentication-tokens', attributes: attributes(0) } };
    expect((await harness.call('POST', tokens, now)).status).toBe(422);
    const made = await harness.create(tokens, 'authentication-tokens', attributes(1000));
    const statusAfter = async (ms: number) => {
      harness.clock.advance(ms);
      const token = String(made.attributes['token']);
      return (await harness.call('GET', O, undefined, token)).status;
    };
    expect([await statusAfter(999), await statusAfter(1)]).toEqual([200, 401]);
  });

  test('without a description exist only once, and a new one replaces the old one', async () => {
    const team = await makeTeam('legacy');
    const named = await issue(tokensOf(team), { description: 'stays' });
    expect((await harness.call('GET', singleOf(team))).status).toBe(404);
    const first = await issue(singleOf(team));
    const second = await issue(singleOf(team));
    expect(await isGood(first.attributes['token'])).toBe(false);
    const shown = await harness.call('GET', singleOf(team));
    expect(shown.data.id).toBe(second.id);
    expect(shown.data.attributes['token']).toBeNull();
    expect((await harness.call('DELETE', singleOf(team))).status).toBe(204);
    expect(await isGood(second.attributes['token'])).toBe(false);
    expect((await harness.call('DELETE', singleOf(team))).status).toBe(404);
    expect(await isGood(named.attributes['token'])).toBe(true);
  });
});

describe('tokens of all teams', () => {
  const list = async (query = '', token?: string) => {
    const path = `${O}/team-tokens?${query}`;
    const reply = await harness.call('GET', path, undefined, token);
    return reply.list.map(({ attributes }) => attributes['description']);
  };

  test('can be searched by team, sorted and filtered by expiry', async () => {
    const [web, worker] = [await makeTeam('zz-web'), await makeTeam('zz-worker')];
    const soon = new Date(harness.clock.nowMs() + 60_000).toISOString();
    const later = new Date(harness.clock.nowMs() + 3_600_000).toISOString();
    await issue(tokensOf(worker), { description: 'later', 'expired-at': later });
    await issue(tokensOf(web), { description: 'never' });
    // The tokens of one team are in the order of their creation.
    harness.clock.advance(1);
    await issue(tokensOf(web), { description: 'soon', 'expired-at': soon });
    expect(await list('q=ZZ-')).toEqual(['never', 'soon', 'later']);
    expect(await list('q=zz-&sort=-team-name')).toEqual(['later', 'never', 'soon']);
    expect(await list('q=zz-&sort=expired-at')).toEqual(['soon', 'later', 'never']);
    expect(await list('q=zz-&sort=-expired-at')).toEqual(['never', 'later', 'soon']);
    harness.clock.advance(120_000);
    expect(await list('q=zz-&filter[expiry_status]=expired')).toEqual(['soon']);
    expect(await list('q=zz-&filter[expiry_status]=active')).toEqual(['never', 'later']);
    const paged = await harness.call('GET', `${O}/team-tokens?q=zz-&page[size]=2&page[number]=2`);
    expect(paged.list).toHaveLength(1);
    expect(paged.meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 2 });
    expect(JSON.stringify(paged)).not.toContain('atlasv1');
  });

  test('are shown only to callers who may manage them', async () => {
    const [own, foreign] = [await makeTeam('yy-own'), await makeTeam('yy-foreign')];
    await issue(tokensOf(own), { description: 'own' });
    await issue(tokensOf(foreign), { description: 'foreign' });
    const { token } = await harness.addUser('yy-member', own);
    expect(await list('q=yy-', token)).toEqual(['own']);
  });
});

describe('the token of an organization', () => {
  test('is not affected by requests for a token of another kind', async () => {
    const path = `${O}/authentication-token`;
    const made = await issue(path);
    for (const method of ['POST', 'GET', 'DELETE']) {
      expect((await harness.call(method, `${path}?token=other`)).status).toBe(404);
    }
    const trail = `${path}?token=audit-trails`;
    const first = await issue(trail);
    const second = await issue(trail);
    expect((await harness.call('GET', trail)).data.id).toBe(second.id);
    expect(first.id).not.toBe(second.id);
    expect((await harness.call('DELETE', trail)).status).toBe(204);
    expect((await harness.call('GET', trail)).status).toBe(404);
    expect(await isGood(made.attributes['token'])).toBe(true);
    const again = await issue(`${path}?token=organization`);
    expect(await isGood(made.attributes['token'])).toBe(false);
    expect(await isGood(again.attributes['token'])).toBe(true);
  });
});
