/** Rewrites records of older versions in the newest one, in batches that others can write between. */
import { isDamage } from '@keelson/errors';
import type { RecordScope, Store, TreeType } from '../store.ts';
import { versionOf } from './codec.ts';
import { findDeclaration } from './table.ts';

export interface RewrittenBatch {
  /** The path to continue after; undefined when there are no more records. */
  readonly after: string | undefined;
  readonly examined: number;
  readonly rewritten: number;
}

/** Records of one transaction. */
const BATCH = 100;

const TREES: Readonly<Partial<Record<RecordScope, TreeType>>> = {
  shared: 'replicated',
  local: 'local',
};

const pathsAfter = async (
  store: Store,
  scope: RecordScope,
  after: string,
): Promise<readonly string[]> => {
  const prefix = `${scope}/`;
  const start = after.startsWith(prefix) ? after : '';
  const tree = TREES[scope];
  if (tree !== undefined) return store.stored.listPaths(tree, start, BATCH);
  const records = await store.scan(prefix, {
    limit: BATCH,
    ...(start !== '' && { after: start }),
  });
  return records.map(({ path }) => path);
};

const rewrite = (store: Store, paths: readonly string[]): Promise<number> => {
  const concerned = paths.flatMap((path) => {
    const codec = findDeclaration(path)?.codec;
    return codec === undefined || codec.version === 1 ? [] : [{ path, codec }];
  });
  return store.transact(async (tx) => {
    let rewritten = 0;
    for (const { path, codec } of concerned)
      try {
        const record = await tx.read(path);
        if (record === undefined || versionOf(record.value).version >= codec.version) continue;
        tx.writeAs(path, codec, codec.decode(path, record.value));
        rewritten += 1;
      } catch (error) {
        // It is reported where it is read, and the others are rewritten.
        if (!isDamage(error)) throw error;
      }
    return rewritten;
  });
};

/**
 * Rewrites the older ones among the next records.
 * @param scopes scopes that may be written
 * @param after '' for the first batch
 */
export const rewriteOlder = async (
  store: Store,
  scopes: readonly RecordScope[],
  after: string,
): Promise<RewrittenBatch> => {
  for (const scope of scopes.toSorted()) {
    if (after > `${scope}0`) continue;
    const paths = await pathsAfter(store, scope, after);
    if (paths.length > 0)
      return {
        after: paths.at(-1),
        examined: paths.length,
        rewritten: await rewrite(store, paths),
      };
  }
  return { after: undefined, examined: 0, rewritten: 0 };
};
