/** All mounts of all namespaces, ready for the look-up of every request. */
import type { MountRecord, MountTable } from './mount.ts';
import { findConflict } from './mount-path.ts';

const key = (namespaceId: string, table: MountTable, path: string): string =>
  `${namespaceId} ${table} ${path}`;

/**
 * Local mounts whose path a mount of the primary has, or holds, or lies below. The primary does not know
 * of them, so only there two such mounts can be: the local one was mounted by who works on this cluster.
 */
const findHiding = (
  mount: MountRecord,
  localMounts: readonly MountRecord[],
): MountRecord | undefined =>
  mount.local
    ? undefined
    : localMounts.find(
        ({ namespaceId, table, path }) =>
          namespaceId === mount.namespaceId &&
          table === mount.table &&
          findConflict(path, [mount.path]) !== undefined,
      );

/** A mount that cannot be reached, and the local one that takes its path. */
export interface HiddenMount {
  readonly mount: MountRecord;
  readonly by: MountRecord;
}

export class MountIndex {
  readonly #hidden: HiddenMount[] = [];
  readonly #byPath = new Map<string, MountRecord>();
  readonly #byUuid = new Map<string, MountRecord>();
  readonly #byNamespace = new Map<string, MountRecord[]>();
  /** Length of the longest path: no longer prefix of a request's path can be a mount. */
  readonly #longestPath: number;

  constructor(mounts: readonly MountRecord[]) {
    this.#longestPath = mounts.reduce((longest, { path }) => Math.max(longest, path.length), 0);
    const localMounts = mounts.filter(({ local }) => local);
    for (const mount of mounts) {
      const by = findHiding(mount, localMounts);
      if (by !== undefined) {
        this.#byUuid.set(mount.uuid, mount);
        this.#hidden.push({ mount, by });
        continue;
      }
      this.#byPath.set(key(mount.namespaceId, mount.table, mount.path), mount);
      this.#byUuid.set(mount.uuid, mount);
      const siblings = this.#byNamespace.get(mount.namespaceId);
      if (siblings === undefined) this.#byNamespace.set(mount.namespaceId, [mount]);
      else siblings.push(mount);
    }
  }

  /**
   * The secrets mount that serves `path` (below the namespace, no leading slash). Mounts never lie below
   * one another, so the first prefix that is a mount is the only one.
   */
  findServing(namespaceId: string, path: string): MountRecord | undefined {
    for (
      let slash = path.indexOf('/');
      slash >= 0 && slash < this.#longestPath;
      slash = path.indexOf('/', slash + 1)
    ) {
      const mount = this.#byPath.get(key(namespaceId, 'secret', path.slice(0, slash + 1)));
      if (mount !== undefined) return mount;
    }
    // LIST and tune name a mount without its slash.
    return this.#byPath.get(key(namespaceId, 'secret', `${path}/`));
  }

  /** Mounts of one namespace that local ones hide: known by uuid alone. */
  hiddenIn(namespaceId: string, table: MountTable): readonly HiddenMount[] {
    return this.#hidden.filter(
      ({ mount }) => mount.namespaceId === namespaceId && mount.table === table,
    );
  }

  findAt(namespaceId: string, table: MountTable, path: string): MountRecord | undefined {
    return this.#byPath.get(key(namespaceId, table, path));
  }

  findByUuid(uuid: string): MountRecord | undefined {
    return this.#byUuid.get(uuid);
  }

  /** Mounts of one namespace, by path. */
  of(namespaceId: string, table: MountTable): readonly MountRecord[] {
    return (this.#byNamespace.get(namespaceId) ?? [])
      .filter((mount) => mount.table === table)
      .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Hidden ones, too. */
  all(): Iterable<MountRecord> {
    return this.#byUuid.values();
  }
}
