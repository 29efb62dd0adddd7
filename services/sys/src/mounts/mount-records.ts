import { createHash } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { collection, deriveView, type Reads, type Store, type Transaction } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import type { OnDamage } from '../damage/damage-register.ts';
import { ROOT_NAMESPACE_ID } from '../namespaces/domain/namespace.ts';
import { namespaceRecords } from '../namespaces/namespace-records.ts';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import {
  BUILT_IN_MOUNTS,
  type BuiltInMount,
  DEFAULT_MOUNT_CONFIG,
  type MountRecord,
  mountRecordShape,
} from './domain/mount.ts';
import { type DamagedMount, MountIndex } from './domain/mount-index.ts';

type Stored = Readonly<Record<string, unknown>>;

/** To version 2: settings have the type of tokens. */
const withTokenType = {
  up: ({ config, ...mount }: Stored): Stored => ({
    ...mount,
    config: { ...(config as object), tokenType: DEFAULT_MOUNT_CONFIG.tokenType },
  }),
  down: ({ config, ...mount }: Stored): Stored => {
    const { tokenType: _, ...older } = config as MountRecord['config'];
    return { ...mount, config: older };
  },
};

// Keys: "<namespace id>/<mount uuid>". A local mount never leaves its cluster.
const replicatedMounts = collection('core/mounts', {
  scope: 'shared',
  version: 2,
  upgrades: { 2: withTokenType },
  keys: 'paths',
  shape: mountRecordShape,
  kind: 'mount',
  owner: OF_NAMESPACE,
});
const localMounts = collection('core/mounts', {
  scope: 'local',
  version: 2,
  upgrades: { 2: withTokenType },
  keys: 'paths',
  shape: mountRecordShape,
  kind: 'mount',
  owner: OF_NAMESPACE,
});

const builtInTuningShape = Type.Pick(mountRecordShape, ['description', 'config', 'options']);
type BuiltInTuning = Shaped<typeof builtInTuningShape>;

/** Keys: "<namespace id>/<type>". Only tuned built-in mounts have a record. */
const builtInTunings = collection('core/built-in-mounts', {
  scope: 'shared',
  version: 2,
  upgrades: { 2: withTokenType },
  keys: 'paths',
  shape: builtInTuningShape,
  owner: OF_NAMESPACE,
});

/** Prefixes of the mounts of all namespaces. */
export const MOUNT_PREFIXES: readonly string[] = [
  replicatedMounts,
  localMounts,
  builtInTunings,
].map(({ prefix }) => prefix);

/** Derived from namespace and type, so that every replica computes the same uuid without a record. */
const builtInUuid = (namespaceId: string, type: string): string => {
  const hex = createHash('sha256').update(`built-in mount ${namespaceId} ${type}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

const toBuiltInMount = (
  namespaceId: string,
  builtIn: BuiltInMount,
  tuning: Readonly<BuiltInTuning> | undefined,
): MountRecord => {
  const uuid = builtInUuid(namespaceId, builtIn.type);
  return {
    ...builtIn,
    uuid,
    accessor: `${builtIn.type}_${uuid.slice(0, 8)}`,
    namespaceId,
    description: tuning?.description ?? builtIn.description,
    options: tuning?.options ?? {},
    config: { ...DEFAULT_MOUNT_CONFIG, ...tuning?.config },
  };
};

/** The settings of a built-in mount, as tuned. */
export const builtInMountConfig = async (
  reads: Reads,
  namespaceId: string,
  type: BuiltInMount['type'],
): Promise<MountRecord['config']> => ({
  ...DEFAULT_MOUNT_CONFIG,
  ...(await builtInTunings.find(reads, `${namespaceId}/${type}`))?.config,
});

const keyOf = ({ namespaceId, uuid }: Pick<MountRecord, 'namespaceId' | 'uuid'>): string =>
  `${namespaceId}/${uuid}`;

const parseKey = (key: string): DamagedMount => {
  const slash = key.indexOf('/');
  return { namespaceId: key.slice(0, slash), uuid: key.slice(slash + 1) };
};

export const loadMountIndex = async (reads: Reads): Promise<MountIndex> => {
  // Includes namespaces being removed: their engines still have to revoke secrets.
  const namespaceIds = [ROOT_NAMESPACE_ID, ...(await namespaceRecords.keys(reads))];
  const tunings = await builtInTunings.readableEntries(reads);
  const tuningOf = new Map(tunings.entries);
  const stored = [
    await replicatedMounts.readableEntries(reads),
    await localMounts.readableEntries(reads),
  ];
  const enabled = stored
    .flatMap(({ entries }) => entries)
    .map(
      ([, mount]): MountRecord => ({
        ...mount,
        config: { ...DEFAULT_MOUNT_CONFIG, ...mount.config },
      }),
    );
  const alive = new Set(namespaceIds);
  return new MountIndex(
    [
      ...namespaceIds.flatMap((id) =>
        BUILT_IN_MOUNTS.map((builtIn) =>
          toBuiltInMount(id, builtIn, tuningOf.get(`${id}/${builtIn.type}`)),
        ),
      ),
      ...enabled.filter(({ namespaceId }) => alive.has(namespaceId)),
    ],
    [
      ...stored.flatMap(({ damaged }) => damaged.map(parseKey)),
      ...tunings.damaged.map(parseKey).map(({ namespaceId, uuid: type }) => ({
        namespaceId,
        uuid: builtInUuid(namespaceId, type),
      })),
    ],
  );
};

/**
 * Returns the index as of each call; rebuilds it only after a mount or a namespace changed.
 * @param onDamage called with the damaged mounts, as `<namespace id>/<uuid>`, at every rebuild
 */
export const followMounts = (store: Store, onDamage: OnDamage): (() => Promise<MountIndex>) =>
  deriveView(store, [...MOUNT_PREFIXES, namespaceRecords.prefix], async (reads) => {
    const index = await loadMountIndex(reads);
    onDamage(index.damaged.map(keyOf));
    return index;
  });

export const isBuiltIn = (mount: MountRecord): boolean =>
  BUILT_IN_MOUNTS.some(({ type, table }) => type === mount.type && table === mount.table);

/** The stored record; built-in mounts have none. */
export const findMountRecord = (
  reads: Reads,
  namespaceId: string,
  { uuid, local }: Pick<MountRecord, 'uuid' | 'local'>,
): Promise<MountRecord | undefined> =>
  (local ? localMounts : replicatedMounts).find(reads, keyOf({ namespaceId, uuid }));

/**
 * Path of the first secrets mount of a namespace that starts with `path`.
 * @throws KeelsonError `barrier.damaged_value` when a damaged mount of the namespace may be there
 */
export const findMountBelow = async (
  reads: Reads,
  namespaceId: string,
  path: string,
): Promise<string | undefined> => {
  const index = await loadMountIndex(reads);
  const [damaged] = index.unplacedIn(namespaceId);
  if (damaged !== undefined)
    throw new KeelsonError('barrier.damaged_value', {
      path: replicatedMounts.path(keyOf(damaged)),
    });
  return index.of(namespaceId, 'secret').find((mount) => mount.path.startsWith(path))?.path;
};

export const writeMount = (tx: Transaction, mount: MountRecord): void => {
  if (isBuiltIn(mount)) {
    const { description, config, options } = mount;
    builtInTunings.write(tx, `${mount.namespaceId}/${mount.type}`, {
      description,
      config,
      options,
    });
    return;
  }
  (mount.local ? localMounts : replicatedMounts).write(tx, keyOf(mount), mount);
};

export const deleteMount = (tx: Transaction, mount: MountRecord): void =>
  (mount.local ? localMounts : replicatedMounts).delete(tx, keyOf(mount));
