/**
 * SQLite answers lists and background queries through an index, never by a scan of the table of workspaces.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '@keelson/clock';
import { createBarrier, openBarrierFor, openSqliteStore, type Store } from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';
import type { CompiledQuery } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WORKSPACE_PROJECTIONS } from '../../compose.ts';
import { destroyDueWorkspaces } from '../../runs/auto-destroy/auto-destroy-operations.ts';
import type { RunsContext } from '../../runs/seams/runs-context.ts';
import { createWorkspaceListing } from './projected-workspace-listing.ts';
import type { WorkspaceQuery } from './workspace-listing.ts';

const BASE: WorkspaceQuery = {
  organizationId: 'org-1',
  tags: [],
  excludeTags: [],
  tagged: [],
  runStatuses: [],
  page: { number: 1, size: 20 },
};

const QUERIES: Readonly<Record<string, Partial<WorkspaceQuery>>> = {
  'everything, in the default order': {},
  'by name, descending': { sort: { by: 'name', isDescending: true } },
  'by latest change': { sort: { by: 'latest-change-at', isDescending: false } },
  'a part of the name': { nameContains: 'web' },
  'a wildcard at the end': { nameWildcard: 'web*' },
  'a wildcard at the start': { nameWildcard: '*web' },
  'an exact name': { nameWildcard: 'web' },
  'a project': { projectId: 'prj-1' },
  'flat tags': { tags: ['a', 'b'] },
  'two tag filters': { tagged: [{ key: 'env', value: 'prod' }, { key: 'team' }] },
  'one of two tag filters': {
    tagged: [{ key: 'env', value: 'prod' }, { key: 'team' }],
    isTagUnion: true,
  },
  'what teams may read': { visible: { projectIds: ['prj-1'], workspaceIds: ['ws-1'] } },
};

/** As where each condition leaves few workspaces, and as where each leaves many. */
const SIZES = {
  few: { tallied: 1, named: ['ws-1'] },
  many: { tallied: 1_000_000, named: undefined },
} as const;

const UPKEEP = 'what is due to be destroyed';
const LAST_PAGE = 'the last page of 1,000,000';
const compiled = new Map<string, CompiledQuery[]>();
let database: DatabaseSync;
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  folder = await temporaryDirectory();
  const file = join(folder.path, 'workspace.db');
  const barrier = createBarrier();
  const store = await openSqliteStore({ file, barrier, projections: WORKSPACE_PROJECTIONS });
  await openBarrierFor(store, barrier, Buffer.alloc(32, 1));
  const remember = (name: string): Store['select'] => {
    const seen: CompiledQuery[] = [];
    compiled.set(name, seen);
    return (build) =>
      store.select((tables: Parameters<typeof build>[0]) => {
        const built = build(tables);
        seen.push(built.compile());
        return built;
      });
  };
  for (const [size, { tallied, named }] of Object.entries(SIZES))
    for (const [name, query] of Object.entries(QUERIES))
      await createWorkspaceListing({
        select: remember(`${name}: ${size}`),
        tallies: async (_table, keys) => keys.map(() => tallied),
        findByPart: async () => named,
        countByPart: async () => undefined,
      }).find({ ...BASE, ...query });
  await createWorkspaceListing({
    select: remember(LAST_PAGE),
    tallies: async (_table, keys) => keys.map(() => 1_000_000),
    findByPart: async () => undefined,
    countByPart: async () => undefined,
  }).find({ ...BASE, page: { number: 50_000, size: 20 } });
  const select = remember(UPKEEP);
  const context = { store: { select }, clock: systemClock } as unknown as RunsContext;
  await destroyDueWorkspaces(context, {});
  await store.close();
  database = new DatabaseSync(file);
});
afterAll(async () => {
  database.close();
  await folder[Symbol.asyncDispose]();
});

const planOf = ({ sql, parameters }: CompiledQuery): readonly string[] =>
  database
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...(parameters as string[]))
    .map((row) => String(row['detail']));

describe('the plan of a listing', () => {
  const names = Object.keys(SIZES).flatMap((size) =>
    Object.keys(QUERIES).map((name) => `${name}: ${size}`),
  );
  test.for(names)('%s', (name) => {
    const queries = compiled.get(name) ?? [];
    expect(queries.length).toBeGreaterThan(0);
    for (const query of queries) {
      const plan = planOf(query);
      expect(plan.filter((step) => step.startsWith('SCAN'))).toEqual([]);
      expect(plan.join('\n')).toMatch(/SEARCH .* USING .*INDEX/);
    }
  });
});

test('the last page is read from the end of the list, without skipping the rows before it', () => {
  const queries = compiled.get(LAST_PAGE) ?? [];
  expect(queries.map(({ parameters }) => parameters.slice(-2))).toEqual([[20, 0]]);
  expect(queries.flatMap(planOf)).toEqual([
    expect.stringMatching(/^SEARCH workspace USING (COVERING )?INDEX/),
  ]);
});

test('due auto-destroys are searched by due time, or in projects with a duration', () => {
  const plans = (compiled.get(UPKEEP) ?? []).map(planOf);
  expect(plans).toEqual([
    [expect.stringMatching(/^SEARCH workspace USING INDEX \S+auto_destroy_at /)],
    [
      'SCAN project_auto_destroy',
      expect.stringMatching(/^SEARCH workspace USING INDEX workspace_project_id/),
    ],
  ]);
});
