/** Many workspaces at once: copies of one that the service made, written to the store as records. */
import { DatabaseSync } from 'node:sqlite';
import type { Store } from '@keelson/storage';
import { nameOf, tagsOf } from './workspace-names.ts';

const PER_TRANSACTION = 1000;
const AT_ONCE = 4;
/** Fewer are made one way only. */
const MANY = 50_000;
/** Of many, made without indexes that are made afterwards; the others leave the indexes as they grow. */
const IN_BULK = 0.9;
const HOUR_MS = 3_600_000;

interface Stored {
  readonly organizationId: string;
  readonly projectId: string;
  readonly createdAtMs: number;
  readonly runs: object;
}

/** In the order of creation, as ids are, and before those that are made now. */
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

/** What is seeded without and with indexes. */
export const splitSeed = (seed: Seed): { readonly bulk?: Seed; readonly rest: Seed } => {
  const count = seed.to - seed.from;
  if (count < MANY) return { rest: seed };
  const at = seed.from + Math.floor(count * IN_BULK);
  return { bulk: { ...seed, to: at }, rest: { ...seed, from: at } };
};

/**
 * Runs `work` while the tables of lists in the file have no indexes but their keys: those are made
 * afterwards, which sorts all entries at once. Nobody has the file open before and after.
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

/** Of all that are seeded. */
export const seededIds = ({ from, to }: Pick<Seed, 'from' | 'to'>): readonly string[] =>
  Array.from({ length: to - from }, (_, at) => idOf('ws', from + at));

export const seedWorkspaces = async (store: Store, seed: Seed): Promise<void> => {
  const { likeId, from, to, project } = seed;
  const template = await store.read(`shared/workspaces/${likeId}`);
  if (template === undefined) throw new Error(`${likeId} is not there`);
  const like = JSON.parse(Buffer.from(template.value).toString()) as Stored;
  const write = (start: number): Promise<void> =>
    store.transact((tx) => {
      for (let at = start; at < Math.min(start + PER_TRANSACTION, to); at += 1) {
        const id = idOf('ws', at);
        const name = nameOf(at);
        const projectId = at < project.size ? project.id : like.projectId;
        const changedAtMs = like.createdAtMs - HOUR_MS - ((at * 7919) % HOUR_MS);
        const current = { id: idOf('run', at), status: 'applied', createdAtMs: changedAtMs };
        const workspace = {
          ...like,
          id,
          name,
          projectId,
          // Every third has run.
          runs: at % 3 === 0 ? { ...like.runs, current } : like.runs,
          latestChangeAtMs: changedAtMs,
          tagBindings: tagsOf(at).map(([key, value], index) => ({
            id: idOf(`tb${index}`, at),
            key,
            value,
            createdAtMs: changedAtMs,
          })),
        };
        tx.write(`shared/workspaces/${id}`, json(workspace));
        tx.write(`shared/workspace-names/${like.organizationId}/${name}`, json({ id }));
        tx.write(`shared/project-workspaces/${projectId}/${id}`, json({}));
      }
    });
  for (let start = from; start < to; start += PER_TRANSACTION * AT_ONCE) {
    const starts = Array.from({ length: AT_ONCE }, (_, turn) => start + turn * PER_TRANSACTION);
    await Promise.all(starts.filter((some) => some < to).map(write));
  }
};
