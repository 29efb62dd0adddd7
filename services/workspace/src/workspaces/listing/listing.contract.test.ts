/** Compares lists with a linear scan over all workspaces, for random names and queries, in both databases. */
import { join } from 'node:path';
import { createBarrier, openBarrierFor, openSqliteStore, type Store } from '@keelson/storage';
import { openPostgresStore } from '@keelson/storage/postgres';
import { startPostgres, temporaryDirectory } from '@keelson/testkit';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunStatus } from '../../base/run-status.ts';
import { WORKSPACE_PROJECTIONS } from '../../compose.ts';
import { DEFAULT_WORKSPACE_SETTINGS, type Workspace } from '../model/domain/workspace.ts';
import { NO_RUNS } from '../model/domain/workspace-runs.ts';
import { initialState } from '../model/domain/workspace-state.ts';
import { projectRecords } from '../model/project-records.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import { storeWorkspaceRuns, workspaceRuns } from '../model/workspace-runs-records.ts';
import { storeWorkspaceState, workspaceStates } from '../model/workspace-state-records.ts';
import { findProjects } from './project-listing.ts';
import { createWorkspaceListing } from './projected-workspace-listing.ts';
import type { WorkspaceQuery } from './workspace-listing.ts';

const ORGANIZATIONS = ['org-1', 'org-2'];
const PROJECTS = ['prj-1', 'prj-2', 'prj-3'];
const IDS = Array.from({ length: 30 }, (_, at) => `ws-${String(at).padStart(2, '0')}`);
const KEYS = ['env', 'team', 'net', 'Env'];
const VALUES = ['prod', 'test', '', null];
const STATUSES = ['planning', 'applied'] as const;

/** The fields of a workspace that lists read. */
interface Listed {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly name: string;
  readonly createdAtMs: number;
  readonly latestChangeAtMs: number;
  readonly run: { readonly status: RunStatus; readonly createdAtMs: number } | null;
  readonly tags: readonly { readonly key: string; readonly value: string | null }[];
}

const textOf = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'A', '-', '_'), minLength, maxLength });

const tagList = fc.uniqueArray(
  fc.record({ key: fc.constantFrom(...KEYS), value: fc.constantFrom(...VALUES) }),
  { selector: ({ key }) => key, maxLength: 3 },
);

const listed: fc.Arbitrary<Listed> = fc.record({
  id: fc.constantFrom(...IDS),
  organizationId: fc.constantFrom('org-1', 'org-1', 'org-2'),
  projectId: fc.constantFrom(...PROJECTS),
  name: textOf(1, 8),
  createdAtMs: fc.nat(5),
  latestChangeAtMs: fc.nat(5),
  run: fc.option(fc.record({ status: fc.constantFrom(...STATUSES), createdAtMs: fc.nat(5) })),
  tags: tagList,
});

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 });

const wildcard = fc
  .tuple(fc.boolean(), textOf(0, 4), fc.boolean())
  .map(([isOpenAtStart, part, isOpenAtEnd]) =>
    part === '' ? '*' : (isOpenAtStart ? '*' : '') + part + (isOpenAtEnd ? '*' : ''),
  );

const few = { maxLength: 2 };
const queries: fc.Arbitrary<WorkspaceQuery> = fc.record({
  organizationId: fc.constantFrom(...ORGANIZATIONS),
  visible: optional(
    fc.record({
      projectIds: fc.array(fc.constantFrom(...PROJECTS), few),
      workspaceIds: fc.array(fc.constantFrom(...IDS), { maxLength: 9 }),
    }),
  ),
  nameContains: optional(textOf(1, 4)),
  nameWildcard: optional(wildcard),
  tags: fc.array(fc.constantFrom(...KEYS), few),
  excludeTags: fc.array(fc.constantFrom(...KEYS), { maxLength: 1 }),
  ownKeys: optional(fc.array(fc.constantFrom(...KEYS), { maxLength: 1 })),
  tagged: fc.array(
    fc
      .record({
        key: fc.constantFrom(...KEYS),
        value: fc.constantFrom('prod', 'test', '', undefined),
      })
      .map(({ key, value }) => (value === undefined ? { key } : { key, value })),
    { maxLength: 3 },
  ),
  isTagUnion: fc.boolean(),
  projectId: optional(fc.constantFrom(...PROJECTS)),
  exceptId: optional(fc.constantFrom(...IDS)),
  runStatuses: fc.array(fc.constantFrom(...STATUSES), few),
  sort: optional(
    fc.record({
      by: fc.constantFrom('name', 'latest-change-at', 'current-run.created-at'),
      isDescending: fc.boolean(),
    }),
  ),
  page: fc.record({ number: fc.integer({ min: 1, max: 4 }), size: fc.constantFrom(3, 20) }),
});

/** A query with one kind of condition is as likely as one with all kinds. */
const someConditions: fc.Arbitrary<WorkspaceQuery> = fc
  .tuple(queries, fc.oneof(fc.nat(0xff), fc.constantFrom(0, 1, 2, 4, 6, 8, 16, 24, 32, 64, 128)))
  .map(([query, kept]) => {
    const keeps = (bit: number) => ((kept >> bit) & 1) === 1;
    return {
      ...query,
      visible: keeps(0) ? query.visible : undefined,
      nameContains: keeps(1) ? query.nameContains : undefined,
      nameWildcard: keeps(2) ? query.nameWildcard : undefined,
      tags: keeps(3) ? query.tags : [],
      excludeTags: keeps(3) ? query.excludeTags : [],
      ownKeys: keeps(3) ? query.ownKeys : [],
      tagged: keeps(4) ? query.tagged : [],
      projectId: keeps(5) ? query.projectId : undefined,
      exceptId: keeps(6) ? query.exceptId : undefined,
      runStatuses: keeps(7) ? query.runStatuses : [],
    };
  });

/** Lists filtered by tags alone are read differently when no project passes one of the tags on. */
const byTagsAlone: fc.Arbitrary<WorkspaceQuery> = queries.map(
  ({ tags, tagged, isTagUnion, page }) => ({
    organizationId: 'org-2',
    tags: isTagUnion ? tags.slice(1) : tags,
    tagged,
    isTagUnion,
    excludeTags: [],
    runStatuses: [],
    page,
  }),
);

/** Pages far from the ends are read from a name whose rank is kept. */
const pageOfAll: fc.Arbitrary<WorkspaceQuery> = fc
  .tuple(fc.constantFrom(...ORGANIZATIONS), fc.boolean(), fc.integer({ min: 2, max: 12 }))
  .map(([organizationId, isDescending, number]) => ({
    organizationId,
    tags: [],
    tagged: [],
    excludeTags: [],
    runStatuses: [],
    sort: { by: 'name', isDescending },
    page: { number, size: 2 },
  }));

type Tag = Listed['tags'][number];

const PROJECT_TAGS: Readonly<Record<string, readonly Tag[]>> = {
  'prj-1': [{ key: 'env', value: 'prod' }],
  'prj-2': [
    { key: 'team', value: '' },
    { key: 'env', value: 'test' },
  ],
};

const matchesWildcard = (name: string, pattern: string): boolean => {
  const lower = pattern.toLowerCase();
  const parts = lower.split('*');
  const escaped = parts.map((part) => part.replaceAll('-', '\\-'));
  return new RegExp(`^${escaped.join('.*')}$`).test(name);
};

const isMatch = (query: WorkspaceQuery, workspace: Listed): boolean => {
  const name = workspace.name.toLowerCase();
  const own = new Set(workspace.tags.map(({ key }) => key));
  const inherited = workspace.organizationId === 'org-1' ? PROJECT_TAGS[workspace.projectId] : [];
  const effective = [...workspace.tags, ...(inherited ?? []).filter(({ key }) => !own.has(key))];
  const isTagged = (filter: { key: string; value?: string }) =>
    effective.some(
      ({ key, value }) =>
        key === filter.key && (filter.value === undefined || (value ?? '') === filter.value),
    );
  const isThere = (tag: string) =>
    effective.some(({ key }) => key.toLowerCase() === tag.toLowerCase());
  return (
    workspace.organizationId === query.organizationId &&
    (query.visible === undefined ||
      query.visible.projectIds.includes(workspace.projectId) ||
      query.visible.workspaceIds.includes(workspace.id)) &&
    name.includes(query.nameContains?.toLowerCase() ?? '') &&
    (query.nameWildcard === undefined || matchesWildcard(name, query.nameWildcard)) &&
    query.tags.every(isThere) &&
    !query.excludeTags.some(isThere) &&
    (query.ownKeys ?? []).every((key) => own.has(key)) &&
    (query.isTagUnion === true && query.tagged.length > 0
      ? query.tagged.some(isTagged)
      : query.tagged.every(isTagged)) &&
    (query.projectId === undefined || query.projectId === workspace.projectId) &&
    query.exceptId !== workspace.id &&
    (query.runStatuses.length === 0 ||
      (workspace.run !== null && query.runStatuses.includes(workspace.run.status)))
  );
};

/** Sort position of a workspace without a run. */
const LAST = Number.MAX_SAFE_INTEGER;

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const naive = (all: readonly Listed[], query: WorkspaceQuery) => {
  const { by = 'name', isDescending = false } = query.sort ?? {};
  const isNewestRunFirst = isDescending && by === 'current-run.created-at';
  const runOf = ({ run }: Listed): number =>
    run === null ? LAST : run.createdAtMs * (isNewestRunFirst ? -1 : 1);
  const compare = (a: Listed, b: Listed): number =>
    (by === 'latest-change-at' ? a.latestChangeAtMs - b.latestChangeAtMs : 0) ||
    (by === 'current-run.created-at' ? runOf(a) - runOf(b) || a.createdAtMs - b.createdAtMs : 0) ||
    (by === 'name' ? compareText(a.name.toLowerCase(), b.name.toLowerCase()) : 0) ||
    compareText(a.id, b.id);
  const found = all
    .filter((workspace) => isMatch(query, workspace))
    .sort((a, b) => (isDescending && !isNewestRunFirst ? compare(b, a) : compare(a, b)));
  const start = (query.page.number - 1) * query.page.size;
  return {
    ids: found.slice(start, start + query.page.size).map(({ id }) => id),
    totalCount: found.length,
  };
};

/** Facts about a workspace that no list reads. */
const UNLISTED = {
  settings: { ...DEFAULT_WORKSPACE_SETTINGS, runtimeVersion: '1.11.4' },
  ownExecution: null,
  source: 'tfe-api',
  sourceName: null,
  sourceUrl: null,
  sshKeyId: null,
  retentionPolicy: null,
};

const toBindings = (tags: Listed['tags']): Workspace['tagBindings'] =>
  tags.map((tag) => ({ ...tag, id: 'tb-1', createdAtMs: 1 }));

const toRecord = (workspace: Listed): Workspace => {
  const { run: _run, tags, latestChangeAtMs: _changedAtMs, ...listed } = workspace;
  return {
    ...UNLISTED,
    ...listed,
    updatedAtMs: listed.createdAtMs,
    tagBindings: toBindings(tags),
  };
};

interface Place {
  readonly store: Store;
  readonly remove: () => PromiseLike<void>;
}

const registerListingContract = (open: () => Promise<Place>): void => {
  let store: Store;
  let remove: Place['remove'];
  beforeAll(async () => {
    ({ store, remove } = await open());
    await store.transact(async (tx) => {
      for (const [id, tags] of Object.entries(PROJECT_TAGS)) {
        await projectRecords.write(tx, [id], {
          id,
          organizationId: 'org-1',
          name: `Project ${id}`,
          description: '',
          autoDestroyActivityDuration: null,
          ownExecution: null,
          tagBindings: toBindings(tags),
          createdAtMs: 1,
        });
      }
    });
  }, 120_000);
  afterAll(async () => {
    await store.close();
    await remove();
  });

  /** Names are unique in their organization, as the service keeps them. */
  const apply = async (known: Map<string, Listed>, id: string, next: Listed | undefined) => {
    const isTaken = [...known.values()].some(
      (other) =>
        other.id !== id &&
        other.organizationId === next?.organizationId &&
        other.name === next.name,
    );
    if (isTaken) return;
    await store.transact(async (tx) => {
      if (next === undefined) {
        await workspaceRecords.delete(tx, id);
        workspaceStates.delete(tx, id);
        workspaceRuns.delete(tx, id);
        return;
      }
      const workspace = toRecord(next);
      storeWorkspaceState(tx, workspace, initialState(next.latestChangeAtMs));
      storeWorkspaceRuns(tx, workspace, {
        ...NO_RUNS,
        current: next.run && { id: 'run-1', configurationVersionId: 'cv-1', ...next.run },
      });
      await workspaceRecords.write(tx, id, workspace);
    });
    if (next) known.set(id, next);
    else known.delete(id);
  };

  test.for([
    ['all', {}, ['prj-1', 'prj-2']],
    ['the other way round', { isDescending: true }, ['prj-2', 'prj-1']],
    ['a part of the name, by the index of parts', { search: 'JECT PRJ-2' }, ['prj-2']],
    ['a part that is too short for the index', { search: '-1' }, ['prj-1']],
    ['a part with wildcards of SQL', { search: '_rj%' }, []],
    ['whole names in any case', { names: ['project PRJ-1', 'elsewhere'] }, ['prj-1']],
    ['what may be seen', { among: ['prj-2', 'prj-3'] }, ['prj-2']],
    ['nothing that may be seen', { among: [] }, []],
    ['a binding with any value', { tagged: [{ key: 'env' }] }, ['prj-1', 'prj-2']],
    ['a binding with a value', { tagged: [{ key: 'env', value: 'prod' }] }, ['prj-1']],
    ['an empty value', { tagged: [{ key: 'team', value: '' }] }, ['prj-2']],
    ['a key in another case', { tagged: [{ key: 'Env' }] }, []],
    ['all of several', { tagged: [{ key: 'env', value: 'prod' }, { key: 'team' }] }, []],
    [
      'one of several',
      { tagged: [{ key: 'env', value: 'prod' }, { key: 'team' }], isTagUnion: true },
      ['prj-1', 'prj-2'],
    ],
    ['the second page', { page: { number: 2, size: 1 } }, ['prj-2'], 2],
    ['another organization', { organizationId: 'org-2' }, []],
  ] as const)('projects are found by %s', async ([, given, ids, totalCount = ids.length]) => {
    const query = { organizationId: 'org-1', tagged: [], isTagUnion: false, isDescending: false };
    const page = { number: 1, size: 10 };
    expect(await findProjects(store, { ...query, page, ...given })).toEqual({ ids, totalCount });
  });

  test('lists equal those of a full scan, whether few are sorted or many are walked', {
    timeout: 300_000,
  }, async () => {
    const listings = [
      createWorkspaceListing(store),
      createWorkspaceListing(store, { few: 4 }),
      createWorkspaceListing(store, { few: -1 }),
    ];
    const known = new Map<string, Listed>();
    const asked: WorkspaceQuery[] = [];
    const changes = fc.array(
      fc.tuple(fc.constantFrom(...IDS), fc.option(listed, { freq: 5, nil: undefined })),
      { minLength: 1, maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(
        changes,
        fc.array(fc.oneof({ weight: 3, arbitrary: someConditions }, byTagsAlone), {
          minLength: 4,
          maxLength: 12,
        }),
        fc.array(pageOfAll, { minLength: 4, maxLength: 4 }),
        async (given, queries, pages) => {
          for (const [id, next] of given) await apply(known, id, next && { ...next, id });
          // Cached counts are requested again after changes.
          asked.push(
            ...queries.filter(
              ({ nameContains, nameWildcard }) => (nameContains ?? nameWildcard) !== undefined,
            ),
          );
          for (const query of [...queries, ...pages, ...asked.slice(-10)]) {
            const expected = naive([...known.values()], query);
            for (const listing of listings) {
              expect(await listing.find(query)).toEqual(expected);
              // Answered from the cache.
              expect((await listing.find(query)).totalCount).toBe(expected.totalCount);
            }
            const { organizationId, visible } = query;
            const all = { ...query, nameContains: undefined, nameWildcard: undefined };
            const unfiltered = {
              ...all,
              tags: [],
              excludeTags: [],
              ownKeys: [],
              tagged: [],
              projectId: undefined,
              exceptId: undefined,
              runStatuses: [],
            };
            expect(await listings[0]?.countVisible({ organizationId, visible })).toBe(
              naive([...known.values()], unfiltered).totalCount,
            );
            const counts = await listings[0]?.countVisibleByRunStatus({ organizationId, visible });
            for (const status of STATUSES) {
              const ofStatus = { ...unfiltered, runStatuses: [status] };
              const { totalCount } = naive([...known.values()], ofStatus);
              expect([status, counts?.get(status)]).toEqual([status, totalCount]);
            }
          }
        },
      ),
      { numRuns: 40, endOnFailure: true },
    );
  });
};

describe('lists on SQLite', () => {
  registerListingContract(async () => {
    const folder = await temporaryDirectory();
    const barrier = createBarrier();
    const store = await openSqliteStore({
      file: join(folder.path, 'workspace.db'),
      barrier,
      projections: WORKSPACE_PROJECTIONS,
    });
    await openBarrierFor(store, barrier, Buffer.alloc(32, 1));
    return { store, remove: () => folder[Symbol.asyncDispose]() };
  });
});

describe('lists on PostgreSQL', () => {
  registerListingContract(async () => {
    const postgres = await startPostgres();
    const barrier = createBarrier();
    const store = await openPostgresStore({
      connectionString: await postgres.createDatabase('workspace'),
      barrier,
      projections: WORKSPACE_PROJECTIONS,
    });
    await openBarrierFor(store, barrier, Buffer.alloc(32, 1));
    return { store, remove: () => postgres[Symbol.asyncDispose]() };
  });
});
