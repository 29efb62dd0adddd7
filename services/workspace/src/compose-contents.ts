/** Composes the places in which contents are stored, and the work that keeps object storage in order. */

import type { Clock } from '@keelson/clock';
import type { ReplicationMember } from '@keelson/cluster-member';
import { KeelsonError } from '@keelson/errors';
import type { PeriodicWork } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import type { MetricsRegistry } from '@keelson/metrics';
import { openConfiguredStorage, type WatchedStorage, watchStorage } from '@keelson/objects';
import type { Barrier, Store } from '@keelson/storage';
import type { WorkspaceConfig } from './config.ts';
import type { ContentPlaces } from './state/contents/content-bodies.ts';
import { type FindElsewhere, objectBodies } from './state/contents/object-bodies.ts';
import { createObjectUpkeep } from './state/contents/object-upkeep.ts';
import { recordBodies } from './state/contents/record-bodies.ts';

const DAY_MS = 86_400_000;
const COMPARE_EVERY_MS = 6 * 3_600_000;
const LOOK_EVERY_MS = 60_000;
const COPY_EVERY_MS = 1000;

/** The object storage that the settings name; undefined without. @throws ConfigError */
export const openContentStorage = (
  config: WorkspaceConfig,
  parts: { readonly logger: Logger; readonly registry: MetricsRegistry; readonly clock: Clock },
): WatchedStorage | undefined => {
  const storage = openConfiguredStorage(config);
  return storage && watchStorage(storage, 'contents', parts);
};

export interface ContentParts {
  readonly config: WorkspaceConfig;
  /** Behind the write gate. */
  readonly store: Store;
  readonly storage: WatchedStorage | undefined;
  readonly barrier: Barrier;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: MetricsRegistry;
  readonly member: Pick<ReplicationMember, 'gate' | 'loadObject'>;
}

export interface Contents {
  readonly places: ContentPlaces;
  /** By name; also runs on a secondary. */
  readonly periodicWork: Readonly<Record<string, PeriodicWork>>;
}

/** Runs work that is repeated; what passes, such as an outage, is logged where it is noticed. */
const tolerantly = async (work: () => Promise<unknown>): Promise<false> => {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof KeelsonError) || !error.mayPass) throw error;
  }
  return false;
};

export const composeContents = ({
  config,
  store,
  storage,
  barrier,
  clock,
  logger,
  registry,
  member,
}: ContentParts): Contents => {
  const records = recordBodies(store);
  if (storage === undefined)
    return {
      places: { current: records, find: (place) => (place === 'records' ? records : undefined) },
      periodicWork: {},
    };
  const keepMs = config.objectStorageKeepDays * DAY_MS;
  const isSecondary = (): boolean => member.gate.closed !== 'none';
  const findElsewhere: FindElsewhere = async (key) =>
    isSecondary() ? member.loadObject(key) : undefined;
  const objects = objectBodies({ storage, store, keepMs, findElsewhere });
  const upkeep = createObjectUpkeep({
    store,
    storage,
    clock,
    logger,
    registry,
    keepMs,
    isSecondary,
    isShared: config.objectStorageShared,
    findElsewhere,
  });
  let comparedAtMs: number | undefined;
  return {
    places: {
      current: objects,
      find: (place) => (place === 'records' ? records : objects),
    },
    periodicWork: {
      'object-comparison': {
        everyMs: LOOK_EVERY_MS,
        round: () =>
          tolerantly(async () => {
            // Compared again after the seal was closed, because a snapshot may have been restored.
            if (barrier.isSealed) comparedAtMs = undefined;
            if (barrier.isSealed || clock.nowMs() < (comparedAtMs ?? 0) + COMPARE_EVERY_MS) return;
            await upkeep.compare();
            comparedAtMs = clock.nowMs();
          }),
      },
      'object-copies': {
        everyMs: COPY_EVERY_MS,
        round: () =>
          tolerantly(async () => {
            if (!barrier.isSealed) await upkeep.copyChanged();
          }),
      },
    },
  };
};
