/** Many workspaces at once: copies of one that the service made, written to the store as records. */
import type { Store } from '@keelson/storage';
import { nameOf, tagsOf } from './workspace-names.ts';

const PER_TRANSACTION = 1000;
const AT_ONCE = 4;
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

/** @returns their ids */
export const seedWorkspaces = async (store: Store, seed: Seed): Promise<readonly string[]> => {
  const { likeId, from, to, project } = seed;
  const template = await store.read(`shared/workspaces/${likeId}`);
  if (template === undefined) throw new Error(`${likeId} is not there`);
  const like = JSON.parse(Buffer.from(template.value).toString()) as Stored;
  const ids: string[] = [];
  const write = (start: number): Promise<void> =>
    store.transact((tx) => {
      for (let at = start; at < Math.min(start + PER_TRANSACTION, to); at += 1) {
        const id = idOf('ws', at);
        ids[at - from] = id;
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
  return ids;
};
