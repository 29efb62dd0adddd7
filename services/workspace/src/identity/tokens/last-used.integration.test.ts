/** When a token was last used, and when it ends if nobody says so. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';
import { tokenUses } from './token-use-records.ts';

const O = '/organizations/acme';
let harness: Harness;
let teamId: string;
beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  teamId = (await harness.create(`${O}/teams`, 'teams', { name: 'workers' })).id;
});
afterAll(() => harness[Symbol.asyncDispose]());

const make = async (path: string, attributes: object = {}) => {
  const made = await harness.create(path, 'authentication-tokens', attributes);
  return { id: made.id, token: String(made.attributes['token']), attributes: made.attributes };
};
const usedAt = async (id: string): Promise<unknown> =>
  (await harness.call('GET', `/authentication-tokens/${id}`)).data.attributes['last-used-at'];
const use = async (token: string): Promise<void> => {
  await harness.call('GET', '/account/details', undefined, token);
};
const at = (ms: number) => new Date(ms).toISOString();

describe('the last use of a token', () => {
  test.for<readonly [string, () => Promise<string>]>([
    ['a user', async () => `/users/${(await harness.addUser('ada')).id}/authentication-tokens`],
    ['a team', async () => `/teams/${teamId}/authentication-token`],
    ['an organization', async () => `${O}/authentication-token`],
    [
      'an agent pool',
      async () => {
        const pool = await harness.create(`${O}/agent-pools`, 'agent-pools', { name: 'pool' });
        return `/agent-pools/${pool.id}/authentication-tokens`;
      },
    ],
  ])('of %s is shown, to the hour', async ([, pathOf]) => {
    const { id, token } = await make(await pathOf());
    expect(await usedAt(id)).toBeNull();
    const firstMs = harness.clock.nowMs();
    await use(token);
    expect(await usedAt(id)).toBe(at(firstMs));
    harness.clock.advance(3_599_999);
    await use(token);
    expect(await usedAt(id)).toBe(at(firstMs));
    harness.clock.advance(1);
    await use(token);
    expect(await usedAt(id)).toBe(at(firstMs + 3_600_000));
  });

  test('is in every list, and sorts them', async () => {
    const path = `/teams/${teamId}/authentication-tokens`;
    const never = await make(path, { description: 'never' });
    const first = await make(path, { description: 'first' });
    const second = await make(path, { description: 'second' });
    await use(first.token);
    harness.clock.advance(1);
    await use(second.token);
    const wanted = new Set([never.id, first.id, second.id]);
    const idsIn = async (target: string) =>
      (await harness.call('GET', `${target}&page[size]=100`)).list
        .map(({ id }) => id)
        .filter((id) => wanted.has(id));
    for (const list of [`${O}/team-tokens`, '/admin/authentication-tokens']) {
      expect(await idsIn(`${list}?sort=last-used-at`)).toEqual([never.id, first.id, second.id]);
      expect(await idsIn(`${list}?sort=-last-used-at`)).toEqual([second.id, first.id, never.id]);
    }
    const { list } = await harness.call('GET', path);
    const times = Object.fromEntries(
      list.map(({ id, attributes }) => [id, attributes['last-used-at']]),
    );
    expect([times[never.id], times[second.id]]).toEqual([null, at(harness.clock.nowMs())]);
  });

  test('is forgotten with the token', async () => {
    const { id, token } = await make(`/teams/${teamId}/authentication-tokens`, {
      description: 'gone',
    });
    await use(token);
    expect(await tokenUses.find(harness.store, id)).toBeDefined();
    await harness.call('DELETE', `/authentication-tokens/${id}`);
    await harness.runUpkeep();
    expect(await tokenUses.find(harness.store, id)).toBeUndefined();
  });
});

describe('a token made without expired-at', () => {
  const inTwoYears = () => {
    const time = new Date(harness.clock.nowMs());
    time.setUTCFullYear(time.getUTCFullYear() + 2);
    return time.toISOString();
  };

  test('ends after two years, and with null never', async () => {
    const { id } = await harness.addUser('grace');
    for (const path of [
      `/users/${id}/authentication-tokens`,
      `/teams/${teamId}/authentication-token`,
      `${O}/authentication-token`,
    ]) {
      expect((await make(path)).attributes['expired-at']).toBe(inTwoYears());
      expect((await make(path, { 'expired-at': null })).attributes['expired-at']).toBeNull();
    }
  });

  test('does not end if it belongs to an agent pool', async () => {
    const pool = await harness.create(`${O}/agent-pools`, 'agent-pools', { name: 'agents' });
    const { attributes } = await make(`/agent-pools/${pool.id}/authentication-tokens`);
    expect(attributes['expired-at']).toBeNull();
  });
});
