import { createHash } from 'node:crypto';
import {
  deriveView,
  jsonRecords,
  type Reads,
  type Store,
  type Transaction,
} from '@keelson/storage';
import { ROOT_NAMESPACE_ID } from '../namespaces/domain/namespace.ts';
import { namespaceRecords } from '../namespaces/namespace-records.ts';
import {
  BUILT_IN_MOUNTS,
  type BuiltInMount,
  DEFAULT_MOUNT_CONFIG,
  type MountRecord,
} from './domain/mount.ts';
import { MountIndex } from './domain/mount-index.ts';

// Key of each: "<namespace id>/<mount uuid>". A local mount never leaves its cluster.
const replicatedMounts = jsonRecords<MountRecord>('shared/core/mounts/');
const localMounts = jsonRecords<MountRecord>('local/core/mounts/');

export const MOUNT_PREFIX = replicatedMounts.prefix;

type BuiltInTuning = Pick<MountRecord, 'description' | 'config' | 'options'>;

/** Key: "<namespace id>/<type>"; only built-in mounts that were tuned have one. */
const builtInTunings = jsonRecords<BuiltInTuning>('shared/core/built-in-mounts/');

export const BUILT_IN_MOUNT_PREFIX = builtInTunings.prefix;

/** Below these the mounts of all namespaces are kept. */
export const MOUNT_PREFIXES: readonly string[] = [
  replicatedMounts,
  localMounts,
  builtInTunings,
].map(({ prefix }) => prefix);

/** Prefixes of the mounts of one namespace; they are emptied when it is deleted. */
export const namespaceMountPrefixes = (namespaceId: string): readonly string[] =>
  MOUNT_PREFIXES.map((prefix) => `${prefix}${namespaceId}/`);

/** The same in every replica without a record: derived from namespace and type. */
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

export const loadMountIndex = async (reads: Reads): Promise<MountIndex> => {
  // Those being removed, too: their engines still have to take secrets back.
  const namespaceIds = [
    ROOT_NAMESPACE_ID,
    ...(await namespaceRecords.entries(reads)).map(([id]) => id),
  ];
  const tunings = new Map(await builtInTunings.entries(reads));
  const enabled = [
    ...(await replicatedMounts.entries(reads)),
    ...(await localMounts.entries(reads)),
  ].map(
    ([, mount]): MountRecord => ({
      ...mount,
      config: { ...DEFAULT_MOUNT_CONFIG, ...mount.config },
    }),
  );
  const alive = new Set(namespaceIds);
  return new MountIndex([
    ...namespaceIds.flatMap((id) =>
      BUILT_IN_MOUNTS.map((builtIn) =>
        toBuiltInMount(id, builtIn, tunings.get(`${id}/${builtIn.type}`)),
      ),
    ),
    ...enabled.filter(({ namespaceId }) => alive.has(namespaceId)),
  ]);
};

/** The index as of each call, rebuilt only after a mount or a namespace changed. */
export const followMounts = (store: Store): (() => Promise<MountIndex>) =>
  deriveView(store, [...MOUNT_PREFIXES, namespaceRecords.prefix], loadMountIndex);

export const isBuiltIn = (mount: MountRecord): boolean =>
  BUILT_IN_MOUNTS.some(({ type, table }) => type === mount.type && table === mount.table);

const keyOf = ({ namespaceId, uuid }: Pick<MountRecord, 'namespaceId' | 'uuid'>): string =>
  `${namespaceId}/${uuid}`;

/** As it is stored; built-in mounts have no record. */
export const findMountRecord = (
  reads: Reads,
  namespaceId: string,
  { uuid, local }: Pick<MountRecord, 'uuid' | 'local'>,
): Promise<MountRecord | undefined> =>
  (local ? localMounts : replicatedMounts).find(reads, keyOf({ namespaceId, uuid }));

/** Namespaces in which this cluster has mounts of its own. */
export const listLocalMountNamespaces = async (reads: Reads): Promise<readonly string[]> =>
  (await localMounts.keys(reads)).map((name) => name.replace(/\/$/, ''));

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
