/**
 * A process that opens a SQLite store and executes the operations that its parent sends, one per
 * message.
 */
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import { openSqliteStore } from '../sqlite/sqlite-store.ts';
import type { FaultKind } from '../store-faults.ts';
import { halfWords, halves, ROOT_KEY, wordsOf } from './crash-records.ts';

export interface StoreRequest {
  readonly id: number;
  /** Words to write for `name`, in addition to those it has; absent to read everything. */
  readonly write?: { readonly name: string; readonly word: string };
  /** Closes the store. */
  readonly close?: true;
}

/** Sent, unasked, when a fault of the store begins or is over. */
export interface StoreFaultNote {
  readonly fault: FaultKind;
  readonly isOver: boolean;
}

/** Results of every kind of read at one moment. */
export interface StoreReads {
  readonly names: readonly string[];
  readonly words: readonly string[];
  readonly scanned: number;
  readonly stored: number;
  readonly head: number;
}

export type StoreAnswer =
  | { readonly id: number; readonly reads: StoreReads; readonly lost: string | undefined }
  | { readonly id: number; readonly written: true }
  | { readonly id: number; readonly closed: string }
  | { readonly id: number; readonly refused: string };

const file = process.argv[2] ?? '';
const barrier = createBarrier();
let lost: string | undefined;
const store = await openSqliteStore({
  file,
  barrier,
  projections: [halfWords],
  onLost: (error, lostFile) => {
    lost = `${lostFile.slice(file.length - 'store.db'.length)}: ${error?.message}`;
  },
});
store.onFault(({ kind, isOver }) => process.send?.({ fault: kind, isOver }));
await openBarrierFor(store, barrier, ROOT_KEY);

const readAll = async (): Promise<StoreReads> => ({
  names: await store.list('shared/halves/left/'),
  words: (await wordsOf(store)).map(({ word }) => word),
  scanned: (await store.scan('shared/halves/')).length,
  stored: (await store.stored.listPaths('replicated', '', 100)).length,
  head: await store.wal.headSequence(),
});

const write = ({ name, word }: NonNullable<StoreRequest['write']>): Promise<void> =>
  store.transact(async (tx) => {
    const path = `left/${name}`;
    const words = (await halves.find(tx, path))?.words ?? [];
    halves.write(tx, path, { id: name, words: [...words, word], filler: '' });
  });

/** @returns the reason why the store could not be closed cleanly; '' if it was */
const close = (): Promise<string> =>
  store.close().then(
    () => '',
    (error: Error) => error.message,
  );

const answer = async ({
  id,
  write: words,
  close: mustClose,
}: StoreRequest): Promise<StoreAnswer> => {
  try {
    if (mustClose === true) return { id, closed: await close() };
    if (words === undefined) return { id, reads: await readAll(), lost };
    await write(words);
    return { id, written: true };
  } catch (error) {
    return { id, refused: String(Reflect.get(error as object, 'code')) };
  }
};

process.on('message', (request: StoreRequest) => {
  void answer(request).then((given) => process.send?.(given));
});
// This read prepares the projections, which takes a separate commit.
await readAll();
process.send?.('ready');
