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
  /** Mounted below auth/. */
  isAuthMethod: Type.Boolean(),
});
export type EngineType = Shaped<typeof engineTypeShape>;

/** Keys: the type. Stored so that a restarted sys knows the types before their services join again. */
const engineTypeRecords = collection('core/engine-types', {
  scope: 'local',
  version: 2,
  upgrades: {
    2: {
      up: (type) => ({ ...type, isAuthMethod: false }),
      down: ({ isAuthMethod: _, ...type }) => type,
    },
  },
  keys: 'paths',
  shape: engineTypeShape,
});

export const findEngineType = (reads: Reads, type: string): Promise<EngineType | undefined> =>
  engineTypeRecords.find(reads, type);

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
    return new Map(entries);
  });

/** Stores the types that a joining service announces, writing only changed and damaged records. */
export const registerEngineTypes = (
  store: Store,
  service: string,
  engines: readonly EngineDescription[],
): Promise<void> =>
  store.transact(async (tx) => {
    const known = new Map((await engineTypeRecords.readableEntries(tx)).entries);
    for (const { type, unauthenticatedPaths, rootPaths, isAuthMethod } of engines) {
      const described: EngineType = {
        type,
        service,
        unauthenticatedPaths,
        rootPaths,
        isAuthMethod,
      };
      if (JSON.stringify(known.get(type)) !== JSON.stringify(described))
        engineTypeRecords.write(tx, type, described);
    }
  });
