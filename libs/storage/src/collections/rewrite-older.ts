/** Rewrites records of older versions in the newest one, in batches that others can write between. */
import { isDamage } from '@keelson/errors';
import type { RecordScope, Store, TreeType } from '../store.ts';
import { versionOf } from './codec.ts';
import { declaredRecords, findDeclaration } from './table.ts';

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
    const declaration = findDeclaration(path);
    const version = declaration?.codec.version ?? 1;
    return declaration === undefined || version === 1 ? [] : [{ path, declaration }];
  });
  return store.transact(async (tx) => {
    let rewritten = 0;
    for (const { path, declaration } of concerned)
      try {
        const { codec, writeAt } = declaration;
        const record = await tx.read(path);
        if (record === undefined || versionOf(record.value).version >= codec.version) continue;
        const value = codec.decode(path, record.value);
        if (writeAt === undefined) tx.writeAs(path, codec, value);
        else await writeAt(tx, path, value);
        rewritten += 1;
      } catch (error) {
        // It is reported where it is read, and the others are rewritten.
        if (!isDamage(error)) throw error;
      }
    return rewritten;
  });
};

const finishIndexes = async (store: Store, scopes: readonly RecordScope[]): Promise<void> => {
  for (const { indexes, scopes: stored } of declaredRecords())
    if (stored.every((scope) => scopes.includes(scope))) await indexes?.finish(store);
};

/**
 * Later indexes without their marks, and former places of kinds that have moved. They wait for `rewriteOlder` although
 * all versions are raised, as in a secondary that was upgraded before its primary and promoted.
 * @param scopes scopes that may be written
 */
export const findUnfinished = async (
  store: Store,
  scopes: readonly RecordScope[],
): Promise<readonly string[]> => {
  const unfinished: string[] = [];
  for (const { name, indexes, movedTo, scopes: stored } of declaredRecords()) {
    if (!stored.every((scope) => scopes.includes(scope))) continue;
    unfinished.push(...((await indexes?.unfinished(store)) ?? []));
    if (movedTo === undefined) continue;
    for (const scope of stored)
      if (await hasRecords(store, scope, name.split('/'))) unfinished.push(`${scope}/${name}`);
  }
  return unfinished;
};

/** @param segments name of a collection, in which "*" stands for any segment */
const hasRecords = async (
  store: Store,
  place: string,
  [segment, ...others]: readonly string[],
): Promise<boolean> => {
  if (segment === undefined) return (await store.list(`${place}/`, { limit: 1 })).length > 0;
  if (segment !== '*') return hasRecords(store, `${place}/${segment}`, others);
  for (const name of await store.list(`${place}/`))
    if (name.endsWith('/') && (await hasRecords(store, `${place}/${name.slice(0, -1)}`, others)))
      return true;
  return false;
};

/**
 * Rewrites the older ones among the next records. After the last one, indexes that were added later are used.
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
  await finishIndexes(store, scopes);
  return { after: undefined, examined: 0, rewritten: 0 };
};
