import type { EngineDescription } from '@keelson/proto/sys/v1/cluster';
import { deriveView, jsonRecords, type Reads, type Store } from '@keelson/storage';

/** An engine type that some service of this cluster serves. */
export interface EngineType {
  readonly type: string;
  /** "pki": the service that serves its requests. */
  readonly service: string;
  readonly unauthenticatedPaths: readonly string[];
  readonly rootPaths: readonly string[];
}

/** Key: the type. Kept, so that a restarted sys knows the types before their services join again. */
const engineTypeRecords = jsonRecords<EngineType>('local/core/engine-types/');

export const findEngineType = (reads: Reads, type: string): Promise<EngineType | undefined> =>
  engineTypeRecords.find(reads, type);

/** All types by name, as of each call. */
export const followEngineTypes = (store: Store): (() => Promise<ReadonlyMap<string, EngineType>>) =>
  deriveView(
    store,
    [engineTypeRecords.prefix],
    async (reads) => new Map(await engineTypeRecords.entries(reads)),
  );

/** What a service announces on joining; unchanged descriptions are not written again. */
export const registerEngineTypes = (
  store: Store,
  service: string,
  engines: readonly EngineDescription[],
): Promise<void> =>
  store.transact(async (tx) => {
    for (const { type, unauthenticatedPaths, rootPaths } of engines) {
      const described: EngineType = { type, service, unauthenticatedPaths, rootPaths };
      const known = await engineTypeRecords.find(tx, type);
      if (JSON.stringify(known) !== JSON.stringify(described))
        engineTypeRecords.write(tx, type, described);
    }
  });
