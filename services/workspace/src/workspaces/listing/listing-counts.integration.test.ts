/** List counts are cached. Each change tested here must be visible in the next list. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

const COLLECTION = '/organizations/acme/workspaces';

let harness: Harness;
let projectId: string;
let readerToken: string;

const inProject = () => ({
  relationships: { project: { data: { type: 'projects', id: projectId } } },
});

beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  projectId = (await harness.create('/organizations/acme/projects', 'projects', { name: 'Data' }))
    .id;
  const team = await harness.create('/organizations/acme/teams', 'teams', { name: 'readers' });
  readerToken = (await harness.addUser('reader', team.id)).token;
  await harness.create(
    '/team-projects',
    'team-projects',
    { access: 'read' },
    {
      relationships: {
        project: { data: { type: 'projects', id: projectId } },
        team: { data: { type: 'teams', id: team.id } },
      },
    },
  );
});
afterAll(() => harness[Symbol.asyncDispose]());

/** The number of visible projects, and of matching ones. */
const countsOf = async (query: string, token?: string): Promise<readonly unknown[]> => {
  const { meta } = await harness.call('GET', `${COLLECTION}?${query}`, undefined, token);
  const counts = meta['status-counts'];
  return [counts?.['total'], counts?.['matching'], meta.pagination['total-count']];
};

/**
 * For the administrator by name, by status and of the project; then for a caller who sees only the
 * project.
 */
const allCounts = async () => [
  await countsOf('search[name]=web'),
  await countsOf('filter[current-run][status]=applied'),
  await countsOf(`filter[project][id]=${projectId}`),
  await countsOf('', readerToken),
];

describe('the counts of a list', () => {
  test('follow creations, renames, moves and deletions', async () => {
    const seen = async (all: number, web: number, project: number) => {
      const expected = [
        [all, web, web],
        [all, 0, 0],
        [all, project, project],
        [project, project, project],
      ];
      expect(await allCounts()).toEqual(expected);
      // The same query again, answered from the cache.
      expect(await allCounts()).toEqual(expected);
    };
    await seen(0, 0, 0);
    const first = await harness.create(COLLECTION, 'workspaces', { name: 'web-1' });
    await seen(1, 1, 0);
    const second = await harness.create(COLLECTION, 'workspaces', { name: 'db-1' }, inProject());
    await seen(2, 1, 1);
    await harness.call('PATCH', `/workspaces/${second.id}`, {
      data: { type: 'workspaces', attributes: { name: 'web-2' } },
    });
    await seen(2, 2, 1);
    await harness.call('PATCH', `/workspaces/${first.id}`, {
      data: { type: 'workspaces', attributes: {}, ...inProject() },
    });
    await seen(2, 2, 2);
    await harness.call('DELETE', `/workspaces/${second.id}`);
    await seen(1, 1, 1);
  });
});

test('counts by status of current runs include only visible workspaces', async () => {
  const { harness: executing, claim, finish, makeWorkspace, queue } = await startRunHarness();
  await using _ = executing;
  const [finished, waiting] = [await makeWorkspace(), await makeWorkspace(), await makeWorkspace()];
  const runId = await queue(finished);
  await claim();
  await finish(runId, false);
  await queue(waiting);
  const O = '/organizations/acme';
  const project = await executing.create(`${O}/projects`, 'projects', { name: 'Waiting' });
  const toProject = { project: { data: { type: 'projects', id: project.id } } };
  await executing.call('PATCH', `/workspaces/${waiting}`, {
    data: { type: 'workspaces', relationships: toProject },
  });
  const team = await executing.create(`${O}/teams`, 'teams', { name: 'readers' });
  const toTeam = { team: { data: { type: 'teams', id: team.id } } };
  for (const [type, target] of [
    ['team-projects', toProject],
    ['team-workspaces', { workspace: { data: { type: 'workspaces', id: finished } } }],
  ] as const) {
    const relationships = { ...toTeam, ...target };
    await executing.create(`/${type}`, type, { access: 'read' }, { relationships });
  }
  const reader = await executing.addUser('reader', team.id);
  const statusCounts = async (query: string, token?: string) => {
    const { meta } = await executing.call('GET', `${COLLECTION}?${query}`, undefined, token);
    return meta['status-counts'];
  };
  const counts = {
    pending: 1,
    planning: 0,
    planned: 0,
    'planned-and-saved': 0,
    'planned-and-finished': 1,
    confirmed: 0,
    applying: 0,
    applied: 0,
    discarded: 0,
    errored: 0,
    canceled: 0,
    'force-canceled': 0,
  };
  expect(await statusCounts('')).toEqual({ ...counts, none: 1, total: 3, matching: 3 });
  const pending = 'filter[current-run][status]=pending';
  expect(await statusCounts(pending, reader.token)).toEqual({
    ...counts,
    none: 0,
    total: 2,
    matching: 1,
  });
});
