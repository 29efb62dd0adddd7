/** Lists of grants by target, by team, or by both. */
import { afterAll, expect, test } from 'vitest';
import { startHarnessOf } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
const harness = await startHarnessOf('acme', 'far');
afterAll(() => harness[Symbol.asyncDispose]());

const make = async (path: string, type: string, name: string) =>
  (await harness.create(`${O}/${path}`, type, { name })).id;
const grant = async (kind: 'workspace' | 'project', teamId: string, id: string, access: string) =>
  (
    await harness.create(
      `/team-${kind}s`,
      `team-${kind}s`,
      { access },
      {
        relationships: {
          team: { data: { type: 'teams', id: teamId } },
          [kind]: { data: { type: `${kind}s`, id } },
        },
      },
    )
  ).id;

test.for(['workspace', 'project'] as const)('of a %s', async (kind) => {
  const [a, b] = [
    await make(`${kind}s`, `${kind}s`, `${kind}-a`),
    await make(`${kind}s`, `${kind}s`, `${kind}-b`),
  ];
  const [one, two] = [
    await make('teams', 'teams', `${kind}-one`),
    await make('teams', 'teams', `${kind}-two`),
  ];
  const ofOne = [await grant(kind, one, a, 'admin'), await grant(kind, one, b, 'read')];
  const ofTwo = await grant(kind, two, a, 'read');
  const list = async (filter: string, token?: string) => {
    const path = `/team-${kind}s?${filter}`;
    const reply = await harness.call('GET', path, undefined, token);
    return { ...reply, ids: reply.list.map(({ id }) => id) };
  };
  expect(new Set((await list(`filter[team][id]=${one}`)).ids)).toEqual(new Set(ofOne));
  expect((await list(`filter[team][id]=${two}`)).ids).toEqual([ofTwo]);
  expect((await list(`filter[${kind}][id]=${a}&filter[team][id]=${two}`)).ids).toEqual([ofTwo]);
  expect((await list(`filter[${kind}][id]=${b}&filter[team][id]=${two}`)).ids).toEqual([]);
  const first = await list(`filter[team][id]=${one}&page[size]=1`);
  expect([first.ids.length, first.meta.pagination['total-count']]).toEqual([1, 2]);

  // A member sees the grants on targets that it administers.
  const { token } = await harness.addUser(`${kind}-member`, one);
  expect((await list(`filter[team][id]=${one}`, token)).ids).toEqual([ofOne[0]]);
  expect((await list(`filter[team][id]=${two}`, token)).status).toBe(404);
  const { token: stranger } = await harness.addUser(`${kind}-stranger`);
  expect((await list(`filter[team][id]=${one}`, stranger)).status).toBe(404);

  const { status, errors } = await list('');
  expect(status).toBe(422);
  expect(errors[0]).toMatchObject({ source: { parameter: `filter[${kind}][id]` } });
});
