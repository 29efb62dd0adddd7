import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Bench, Figure } from '../bench.ts';
import { collectGarbage } from '../collect-garbage.ts';
import { measureLatency, measureThroughput } from '../load.ts';
import {
  QUERIES,
  type Query,
  RESTRICTED_QUERIES,
  seededRandom,
  workspaceDocument,
} from './workspace-names.ts';
import { seededIds, seedWorkspaces, splitSeed, withoutIndexes } from './workspace-seed.ts';
import { type InProcessWorkspaces, startWorkspaces, WORKSPACE_FILE } from './workspace-service.ts';

const COLLECTION = '/organizations/bench/workspaces';
const CALLERS = 64;
/** Number of workspaces in the project of the restricted caller. */
const VISIBLE = 300;
const CREATIONS_PER_SECOND = 20;
/** Lists arrive as fast as one user may send requests to `/api/v2`. */
const LISTS_PER_SECOND = 30;

export interface Scene {
  readonly workspaces: InProcessWorkspaces;
  readonly ids: readonly string[];
  /** Caller who sees one project only. */
  readonly reader: Principal;
  /** Creates the next workspace. */
  readonly create: () => Promise<unknown>;
}

/** An organization with the given number of workspaces. */
export const setScene = async (folder: string, count: number): Promise<Scene> => {
  let workspaces = await startWorkspaces(folder);
  const call: InProcessWorkspaces['call'] = (...given) => workspaces.call(...given);
  const make = (path: string, type: string, attributes: object, relationships: object = {}) =>
    call('POST', path, { data: { type, attributes, relationships } });
  await make('/organizations', 'organizations', { name: 'bench', email: 'a@b.example' });
  const project = await make('/organizations/bench/projects', 'projects', { name: 'Data' });
  const team = await make('/organizations/bench/teams', 'teams', { name: 'readers' });
  await make(
    '/team-projects',
    'team-projects',
    { access: 'read' },
    {
      project: { data: { type: 'projects', id: project.id } },
      team: { data: { type: 'teams', id: team.id } },
    },
  );
  const user = { username: 'reader', email: 'reader@keelson.example' };
  const { id: userId } = await make('/admin/users', 'users', user);
  await call('POST', `/teams/${team.id}/relationships/users`, {
    data: [{ type: 'users', id: 'reader' }],
  });
  const tokens = `/users/${userId}/authentication-tokens`;
  const { attributes } = await make(tokens, 'authentication-tokens', {});
  let next = 0;
  const { id: likeId } = await call('POST', COLLECTION, workspaceDocument(next++));
  const size = Math.min(VISIBLE, count / 2);
  const seed = { likeId, from: next, to: count, project: { id: project.id, size } };
  const { bulk, rest } = splitSeed(seed);
  if (bulk !== undefined) {
    await workspaces.stop();
    await withoutIndexes(join(folder, WORKSPACE_FILE), async () => {
      const seeding = await startWorkspaces(folder);
      await seedWorkspaces(seeding.store, bulk);
      await seeding.stop();
    });
    workspaces = await startWorkspaces(folder);
  }
  await seedWorkspaces(workspaces.store, rest);
  await workspaces.stop();
  collectGarbage();
  workspaces = await startWorkspaces(folder);
  next = count;
  return {
    workspaces,
    ids: seededIds(seed),
    create: () => workspaces.ask('POST', COLLECTION, workspaceDocument(next++)),
    reader: await workspaces.identify(String(attributes['token'])),
  };
};

/** Calls per second, and CPU of this process per call, with the given number of parallel callers. */
export const measureCalls = async (
  name: string,
  seconds: number,
  operation: () => Promise<unknown>,
): Promise<Figure> => {
  const before = process.cpuUsage();
  const { operations, perSecond } = await measureThroughput(operation, CALLERS, seconds);
  const { user, system } = process.cpuUsage(before);
  const cpuMicrosecondsPerOperation = (user + system) / operations;
  return { name, value: perSecond, unit: '/s', cpuMicrosecondsPerOperation };
};

/** A list query with different values each time. */
export const listing = ({ workspaces }: Scene, query: Query, count: number, caller?: Principal) => {
  const random = seededRandom(count);
  return () => workspaces.ask('GET', `${COLLECTION}?${query(random, count)}`, undefined, caller);
};

/** P8. @returns limit of p99 in milliseconds */
const targetOf = (count: number): number => (count < 1_000_000 ? 25 : 100);

/**
 * CPU of all threads per list, in microseconds, with one list at a time and a creation before each: this
 * matters when other work uses the machine. It cannot be measured for a single list, because the kernel
 * counts in steps longer than one takes.
 */
const measureCpu = async (
  list: () => Promise<unknown>,
  create: () => Promise<unknown>,
  turns: number,
): Promise<number> => {
  let microseconds = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    await create();
    const before = process.cpuUsage();
    await list();
    const { user, system } = process.cpuUsage(before);
    microseconds += user + system;
  }
  return microseconds / turns;
};

export interface ListRate {
  readonly perSecond: number;
  readonly seconds: number;
  /** Number of lists whose CPU is measured. */
  readonly turns: number;
}

export const measureLists = async (
  scene: Scene,
  count: number,
  { perSecond, seconds, turns }: ListRate,
): Promise<Figure[]> => {
  const figures: Figure[] = [];
  const lists = [
    ...Object.entries(QUERIES).map(([name, query]) => [name, query, undefined] as const),
    ...Object.entries(RESTRICTED_QUERIES).map(
      ([name, query]) => [`caller who sees ${VISIBLE}: ${name}`, query, scene.reader] as const,
    ),
  ];
  for (const [name, query, caller] of lists) {
    const list = listing(scene, query, count, caller);
    const cpu = await measureCpu(list, scene.create, turns);
    const [latency] = await Promise.all([
      measureLatency(list, perSecond, seconds),
      measureLatency(scene.create, CREATIONS_PER_SECOND, seconds),
    ]);
    figures.push({
      name: `list ${name}: p99`,
      value: latency.p99,
      unit: 'ms',
      limit: { name: 'target', value: targetOf(count) },
      cpuMicrosecondsPerOperation: cpu,
      latencyMilliseconds: latency,
    });
  }
  return figures;
};

export const workspaces: Bench = {
  name: 'workspace',
  claim: 'P7, P8: create, show, lock and list workspaces, without HTTP',
  method:
    'The service on SQLite in one process, called as the gateway calls it; answers are not parsed. 100,000 ' +
    `workspaces (--records); 64 callers create, show and lock. ${LISTS_PER_SECOND} lists a second (the rate limit of a user), each with other values, while ${CREATIONS_PER_SECOND} ` +
    'workspaces a second are created; CPU/op is that of all threads for one list between two creations.',
  run: async ({ quick, say, records }) => {
    const count = quick ? 600 : (records ?? 100_000);
    const seconds = quick ? 0.1 : 4;
    const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'));
    say(`making ${count} workspaces`);
    const scene = await setScene(folder, count);
    try {
      let turn = 0;
      const nextId = () => scene.ids[turn++ % scene.ids.length] ?? '';
      say('creating');
      await measureThroughput(scene.create, CALLERS, seconds / 4);
      const figures = [await measureCalls('create', 2 * seconds, scene.create)];
      say('showing and locking');
      const show = () => scene.workspaces.ask('GET', `/workspaces/${nextId()}`);
      figures.push(await measureCalls('show by id', seconds, show));
      const lockAndUnlock = async () => {
        const path = `/workspaces/${nextId()}/actions`;
        await scene.workspaces.ask('POST', `${path}/lock`);
        await scene.workspaces.ask('POST', `${path}/unlock`);
      };
      figures.push(await measureCalls('lock and unlock, as one', seconds, lockAndUnlock));
      say('listing');
      const lists = await measureLists(scene, count, {
        perSecond: quick ? 50 : LISTS_PER_SECOND,
        seconds,
        turns: quick ? 4 : 300,
      });
      return [...figures, ...lists];
    } finally {
      await scene.workspaces.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
