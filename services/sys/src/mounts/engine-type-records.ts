import type { EngineDescription } from '@keelson/proto/sys/v1/cluster';
import { collection, deriveView, type Reads, type Store } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import type { OnDamage } from '../damage/damage-register.ts';

/** An engine type that some service of this cluster serves. */
export const engineTypeShape = Type.Object({
  type: Type.String(),
  /** The service that serves requests of this type: "pki". */
  service: Type.String(),
  unauthenticatedPaths: Type.Array(Type.String()),
  rootPaths: Type.Array(Type.String()),
});
export interface EngineType extends Shaped<typeof engineTypeShape> {
  /** Mounted below auth/, as all types of the service auth are, and no others. */
  readonly isAuthMethod: boolean;
}

/** Keys: the type. Stored so that a restarted sys knows the types before their services join again. */
const engineTypeRecords = collection('core/engine-types', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: engineTypeShape,
});

/** Not stored: a record of a later version could not be written while processes of an older one may run. */
const toEngineType = (record: Shaped<typeof engineTypeShape>): EngineType => ({
  ...record,
  isAuthMethod: record.service === 'auth',
});

export const findEngineType = async (
  reads: Reads,
  type: string,
): Promise<EngineType | undefined> => {
  const record = await engineTypeRecords.find(reads, type);
  return record && toEngineType(record);
};

/**
 * All types by name, as of each call.
 * @param onDamage called with the damaged types at every read
 */
export const followEngineTypes = (
  store: Store,
  onDamage: OnDamage,
): (() => Promise<ReadonlyMap<string, EngineType>>) =>
  deriveView(store, [engineTypeRecords.prefix], async (reads) => {
    const { entries, damaged } = await engineTypeRecords.readableEntries(reads);
    onDamage(damaged);
    return new Map(entries.map(([type, record]) => [type, toEngineType(record)]));
  });

/** Stores the types that a joining service announces, writing only changed and damaged records. */
export const registerEngineTypes = (
  store: Store,
  service: string,
  engines: readonly EngineDescription[],
): Promise<void> =>
  store.transact(async (tx) => {
    const known = new Map((await engineTypeRecords.readableEntries(tx)).entries);
    for (const { type, unauthenticatedPaths, rootPaths } of engines) {
      const described = { type, service, unauthenticatedPaths, rootPaths };
      if (JSON.stringify(known.get(type)) !== JSON.stringify(described))
        engineTypeRecords.write(tx, type, described);
    }
  });
