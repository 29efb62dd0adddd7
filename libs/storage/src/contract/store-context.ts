/** One open store for each test of a contract, with short helpers. */
import { afterEach, beforeEach, expect } from 'vitest';
import { type Barrier, createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import type { RecordKind } from '../collections/codec.ts';
import type { Projection } from '../projections/projection.ts';
import type { Store, WalEntry } from '../store.ts';

/** Location of one store. Opened again, the store contains everything that was committed. */
export interface StoreLocation {
  open(
    barrier: Barrier,
    projections?: readonly Projection[],
    kinds?: readonly RecordKind[],
  ): Promise<Store>;
  remove(): Promise<void>;
}

export const ROOT_KEY = new Uint8Array(32).fill(3);

export const bytes = (text: string): Uint8Array => Buffer.from(text);
export const text = (value: Uint8Array | undefined): string | undefined =>
  value && Buffer.from(value).toString();
export const refusal = (code: string) => expect.objectContaining({ code });

export const put = (store: Store, values: Readonly<Record<string, string>>): Promise<void> =>
  store.transact((tx) => {
    for (const [path, value] of Object.entries(values)) tx.write(path, bytes(value));
  });

export const get = async (store: Store, path: string): Promise<string | undefined> =>
  text((await store.read(path))?.value);

/** Entries after `sequence`, up to the head of this moment. */
export const entriesAfter = async (store: Store, sequence: number): Promise<WalEntry[]> => {
  const head = await store.wal.headSequence();
  const entries: WalEntry[] = [];
  if (sequence === head) return entries;
  for await (const entry of store.wal.follow(sequence, new AbortController().signal)) {
    entries.push(entry);
    if (entry.sequence === head) break;
  }
  return entries;
};

/** Replaces records by bytes that no key decrypts, as a faulty disk could. */
export const damage = (store: Store, ...paths: readonly string[]): Promise<void> =>
  store.applyRecords(
    'damage',
    paths.map((path) => ({ path, stored: Buffer.from([0]) })),
  );

/** The store of the running test; a new place for each. */
export class StoreContext {
  /** Paths of damaged records in the order in which they were reported to the running test. */
  damaged: string[] = [];
  #place: StoreLocation | undefined;
  #barrier = createBarrier();
  #store: Store | undefined;

  constructor(createPlace: () => Promise<StoreLocation>) {
    beforeEach(async () => {
      this.damaged = [];
      this.#place = await createPlace();
      await this.#open();
    });
    afterEach(async () => {
      await this.store.close();
      await this.#place?.remove();
    });
  }

  get store(): Store {
    if (this.#store === undefined) throw new Error('no test is running');
    return this.#store;
  }

  get barrier(): Barrier {
    return this.#barrier;
  }

  async reopen(...projections: readonly Projection[]): Promise<void> {
    await this.store.close();
    await this.#open(projections);
  }

  async #open(projections?: readonly Projection[]): Promise<void> {
    this.#barrier = createBarrier();
    this.#store = await this.#place?.open(this.#barrier, projections);
    this.store.onDamaged((path) => this.damaged.push(path));
    await openBarrierFor(this.store, this.#barrier, ROOT_KEY);
  }
}
