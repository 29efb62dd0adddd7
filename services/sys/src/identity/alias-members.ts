/** Members that the documents of entities, groups and aliases have in common. */
import { mountPathOf } from '../mounts/domain/mount.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';

export const toTimestamp = (epochMs: number): string => new Date(epochMs).toISOString();

export const nullIfEmpty = (
  map: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | null => (Object.keys(map).length === 0 ? null : map);

/** The mount of an alias; path and type are empty until the alias of a removed mount is removed as well. */
export const mountMembers = (
  { mountUuid, mountAccessor }: { readonly mountUuid: string; readonly mountAccessor: string },
  mounts: MountIndex,
) => {
  const mount = mounts.findByUuid(mountUuid);
  return {
    mount_accessor: mountAccessor,
    mount_path: mount === undefined ? '' : mountPathOf(mount),
    mount_type: mount?.type ?? '',
  };
};
