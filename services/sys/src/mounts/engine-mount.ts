import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import type { LeaseTtls } from './domain/lease-ttl.ts';
import type { MountIndex } from './domain/mount-index.ts';
import { toEdgeMount } from './mount-document.ts';
import { isBuiltIn } from './mount-records.ts';

/** The mount with this uuid as engines receive it; built-in mounts have no engine. */
export const findEngineMount = (
  mounts: MountIndex,
  namespaces: NamespaceTable,
  systemTtls: LeaseTtls,
  uuid: string,
): Mount | undefined => {
  const mount = mounts.findByUuid(uuid);
  const namespace = mount && namespaces.findById(mount.namespaceId);
  if (mount === undefined || namespace === undefined || isBuiltIn(mount)) return undefined;
  return toEdgeMount(mount, { id: namespace.id, path: namespace.path }, systemTtls);
};

/**
 * Mounts whose place cannot be sent to their engines because they, or their namespaces, are damaged. The
 * engines keep the data of these mounts.
 */
export const findUnreadableMounts = (mounts: MountIndex, namespaces: NamespaceTable): string[] => [
  ...mounts.damaged.map(({ uuid }) => uuid),
  ...[...mounts.all()]
    .filter((mount) => namespaces.damaged.has(mount.namespaceId) && !isBuiltIn(mount))
    .map(({ uuid }) => uuid),
];

/** All mounts of these engine types, for `Cluster.Join`. */
export const findEngineMounts = (
  mounts: MountIndex,
  namespaces: NamespaceTable,
  systemTtls: LeaseTtls,
  types: ReadonlySet<string>,
): Mount[] =>
  [...mounts.all()]
    .filter(({ type }) => types.has(type))
    .flatMap(({ uuid }) => findEngineMount(mounts, namespaces, systemTtls, uuid) ?? []);
