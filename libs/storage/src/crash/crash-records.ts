/** Records of the killed writer, and the invariants that they must satisfy afterwards. */
import type { Kysely } from 'kysely';
import { Type } from 'typebox';
import { collection } from '../collections/collection.ts';
import { defineProjection, type Projection } from '../projections/projection.ts';
import { subpageOf } from '../records/record-digest.ts';
import type { Shaped } from '../shapes/shape.ts';
import type { Store } from '../store.ts';

export const ROOT_KEY = new Uint8Array(32).fill(5);

const halfShape = Type.Object({
  id: Type.String(),
  words: Type.Array(Type.String()),
  filler: Type.String(),
});

/** Each id has two of them, left and right, written and deleted by one transaction. */
export const halves = collection('halves', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: halfShape,
});

interface Tables {
  readonly half_word: { id: string; word: string };
}

export const halfWords = defineProjection<Shaped<typeof halfShape>, Tables['half_word']>({
  table: 'half_word',
  version: 1,
  source: halves,
  columns: { id: 'text', word: 'text' },
  indexes: [['word']],
  rows: ({ id, words }) => words.map((word) => ({ id, word })),
}) as Projection;

/** Lines of the writer: "+id" written, "?id" is being deleted, "-id" deleted; each after its reply. */
const idsAfter = (mark: string, lines: readonly string[]): string[] =>
  lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(1));

/** All rows of the projection. */
export const wordsOf = (store: Store): Promise<readonly Tables['half_word'][]> =>
  store.select((tables: Kysely<Tables>) =>
    tables.selectFrom('half_word').select(['id', 'word']).orderBy('id').orderBy('word'),
  );

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Paths of shared scope after all entries of the log; undefined when one is missing. */
const replay = async (store: Store): Promise<string[] | undefined> => {
  const head = await store.wal.headSequence();
  const paths = new Set<string>();
  let last = 0;
  for await (const { sequence, operations } of store.wal.follow(0, new AbortController().signal)) {
    if (sequence !== last + 1) return undefined;
    last = sequence;
    for (const { path, stored } of operations)
      if (stored === undefined) paths.delete(path);
      else if (path.startsWith('shared/')) paths.add(path);
    if (sequence === head) break;
  }
  return [...paths].sort();
};

/**
 * Damage to a store whose writer was killed, found by means of the writer's output; empty if there is none.
 */
export const findDamage = async (store: Store, lines: readonly string[]): Promise<string[]> => {
  const damage: string[] = [];
  const left = await store.list('shared/halves/left/');
  if (!isEqual(left, await store.list('shared/halves/right/'))) damage.push('half a transaction');

  const present = new Set(left);
  const mayBeGone = new Set(idsAfter('?', lines));
  const lost = idsAfter('+', lines).filter((id) => !present.has(id) && !mayBeGone.has(id));
  const undead = idsAfter('-', lines).filter((id) => present.has(id));
  damage.push(...lost.map((id) => `lost ${id}`), ...undead.map((id) => `not deleted ${id}`));

  const paths = (await store.scan('shared/')).map(({ path }) => path).sort();
  if (!isEqual(await replay(store), paths)) damage.push('the log does not lead to the records');

  for (const path of paths)
    if (!(await store.stored.listSubpage('replicated', subpageOf(path))).includes(path))
      damage.push(`${path} is not in its subpage`);

  const words = await wordsOf(store);
  await store.rebuildProjections();
  if (!isEqual(await wordsOf(store), words)) damage.push('a projection differs');
  const roots = await store.merkle.roots();
  await store.merkle.rebuild();
  if (!isEqual(await store.merkle.roots(), roots)) damage.push('a Merkle tree differs');
  return damage;
};
