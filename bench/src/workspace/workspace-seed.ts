/**
 * Creates many workspaces at once, as copies of one that the service created, written directly to the store.
 */
import { DatabaseSync } from 'node:sqlite';
import type { Store } from '@keelson/storage';
import { nameOf, tagsOf } from './workspace-names.ts';

const PER_TRANSACTION = 1000;
const AT_ONCE = 4;
/** Smaller numbers are created in a single way. */
const MANY = 50_000;
/** This many workspaces are inserted without indexes, which are built afterwards; the rest with indexes. */
const IN_BULK = 0.9;
const HOUR_MS = 3_600_000;

interface Stored {
  readonly organizationId: string;
  readonly projectId: string;
  readonly createdAtMs: number;
}

/** In the order of creation, like real ids, and before those that are created later. */
const idOf = (prefix: string, at: number): string =>
  `${prefix}-${at.toString(36).padStart(16, '0')}`;

const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

export interface Seed {
  /** Id of the workspace that is copied. */
  readonly likeId: string;
  readonly from: number;
  readonly to: number;
  /** The first ones belong to this project, the others to that of the copied one. */
  readonly project: { readonly id: string; readonly size: number };
}

/** The parts seeded without and with indexes. */
export const splitSeed = (seed: Seed): { readonly bulk?: Seed; readonly rest: Seed } => {
  const count = seed.to - seed.from;
  if (count < MANY) return { rest: seed };
  const at = seed.from + Math.floor(count * IN_BULK);
  return { bulk: { ...seed, to: at }, rest: { ...seed, from: at } };
};

/**
 * Runs `work` while the tables of lists in the file have no indexes except their keys. The indexes are
 * rebuilt afterwards, which sorts all entries in one pass. No other connection may have the file open.
 */
export const withoutIndexes = async (file: string, work: () => Promise<void>): Promise<void> => {
  const statements = usingDatabase(file, (database) => {
    const indexes = database
      .prepare(
        `SELECT name, sql FROM sqlite_schema
         WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('workspace', 'workspace_tag')`,
      )
      .all();
    for (const { name } of indexes) database.exec(`DROP INDEX "${String(name)}"`);
    return indexes.map(({ sql }) => String(sql));
  });
  await work();
  usingDatabase(file, (database) => {
    for (const statement of statements) database.exec(statement);
  });
};

const usingDatabase = <T>(file: string, work: (database: DatabaseSync) => T): T => {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -262144');
    return work(database);
  } finally {
    database.close();
  }
};

/** Ids of all seeded workspaces. */
export const seededIds = ({ from, to }: Pick<Seed, 'from' | 'to'>): readonly string[] =>
  Array.from({ length: to - from }, (_, at) => idOf('ws', from + at));

/** The value of a record, and the mark of its version in front of it. */
const parse = (value: Uint8Array): { readonly mark: Buffer; readonly stored: Stored } => {
  const bytes = Buffer.from(value);
  const start = bytes.indexOf('{');
  return {
    mark: bytes.subarray(0, start),
    stored: JSON.parse(bytes.subarray(start).toString()) as Stored,
  };
};

/** The summary of a workspace without states. */
const NO_STATE = {
  currentId: null,
  newestId: null,
  pendingId: null,
  newestNumber: 0,
  resourceCount: 0,
  outputCount: 0,
};

export const seedWorkspaces = async (store: Store, seed: Seed): Promise<void> => {
  const { likeId, from, to, project } = seed;
  const template = await store.read(`shared/workspaces/${likeId}`);
  if (template === undefined) throw new Error(`${likeId} is not there`);
  const { mark, stored: like } = parse(template.value);
  const write = (start: number): Promise<void> =>
    store.transact((tx) => {
      for (let at = start; at < Math.min(start + PER_TRANSACTION, to); at += 1) {
        const id = idOf('ws', at);
        const name = nameOf(at);
        const projectId = at < project.size ? project.id : like.projectId;
        const changedAtMs = like.createdAtMs - HOUR_MS - ((at * 7919) % HOUR_MS);
        const current = {
          id: idOf('run', at),
          status: 'applied',
          createdAtMs: changedAtMs,
          configurationVersionId: idOf('cv', at),
        };
        const workspace = {
          ...like,
          id,
          name,
          projectId,
          // Every third has run.
          ...(at % 3 === 0 && { runs: { current, newestNumber: 1, finished: [] } }),
          state: { ...NO_STATE, latestChangeAtMs: changedAtMs },
          tagBindings: tagsOf(at).map(([key, value], index) => ({
            id: idOf(`tb${index}`, at),
            key,
            value,
            createdAtMs: changedAtMs,
          })),
        };
        tx.write(`shared/workspaces/${id}`, Buffer.concat([mark, json(workspace)]));
        tx.write(`shared/workspace-names/${like.organizationId}/${name}`, json({ id }));
        tx.write(`shared/project-workspaces/${projectId}/${id}`, json({}));
      }
    });
  for (let start = from; start < to; start += PER_TRANSACTION * AT_ONCE) {
    const starts = Array.from({ length: AT_ONCE }, (_, turn) => start + turn * PER_TRANSACTION);
    await Promise.all(starts.filter((some) => some < to).map(write));
  }
};

/** Writes the current runs of seeded workspaces, which `seedWorkspaces` only names. */
export const seedRuns = async (store: Store, workspaceIds: readonly string[]): Promise<void> => {
  const phase = { additions: 1, changes: 2, destructions: 0, imports: 0 };
  for (let start = 0; start < workspaceIds.length; start += PER_TRANSACTION) {
    await store.transact(async (tx) => {
      for (const workspaceId of workspaceIds.slice(start, start + PER_TRANSACTION)) {
        const record = await tx.read(`shared/workspaces/${workspaceId}`);
        if (record === undefined) continue;
        const workspace = parse(record.value).stored as Stored & {
          readonly runs?: { readonly current: { readonly id: string; createdAtMs: number } };
        };
        if (workspace.runs === undefined) continue;
        const { current } = workspace.runs;
        const run = {
          id: current.id,
          number: 1,
          organizationId: workspace.organizationId,
          workspaceId,
          configurationVersionId: current.id.replace('run-', 'cv-'),
          status: 'applied',
          statusTimesMs: { pending: current.createdAtMs, applied: current.createdAtMs },
          message: 'Triggered via API',
          source: 'tfe-api',
          isDestroy: false,
          refresh: true,
          refreshOnly: false,
          autoApply: true,
          planOnly: false,
          savePlan: false,
          allowEmptyApply: false,
          targetAddrs: [],
          replaceAddrs: [],
          variables: [],
          terraformVersion: '1.11.4',
          planned: { ...phase, hasChanges: true },
          applied: phase,
          cancelRequestedAtMs: null,
          agentPoolId: null,
          agentId: null,
          stateVersionIds: [],
          createdById: null,
          requestedWith: null,
          createdAtMs: current.createdAtMs,
        };
        tx.write(`shared/runs/${current.id}`, json(run));
      }
    });
  }
};
