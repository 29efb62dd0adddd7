/** All mounts of all namespaces, indexed for the look-up of every request. */
import { AUTH_PREFIX, type MountRecord, type MountTable } from './mount.ts';
import { findConflict } from './mount-path.ts';

const tableKey = (namespaceId: string, table: MountTable): string => `${namespaceId} ${table}`;

/**
 * The local mount whose path equals, contains or lies below the path of `mount`, a mount of the primary.
 * Such pairs exist on secondaries only, because the primary does not know their local mounts. The local
 * mount wins, as an operator of this cluster enabled it.
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

/** A mount whose record cannot be decrypted. */
export interface DamagedMount {
  readonly namespaceId: string;
  readonly uuid: string;
}

/** A mount that cannot be reached, and the local mount that takes its path. */
export interface HiddenMount {
  readonly mount: MountRecord;
  readonly by: MountRecord;
}

export class MountIndex {
  readonly #hidden: HiddenMount[] = [];
  /** By namespace and table, then by path. */
  readonly #tables = new Map<string, Map<string, MountRecord>>();
  readonly #byUuid = new Map<string, MountRecord>();
  readonly #byNamespace = new Map<string, MountRecord[]>();
  readonly #methods: ReadonlySet<string>;
  /** Length of the longest mount path; longer prefixes of a request path need no look-up. */
  readonly #longestPath: number;

  /**
   * Damaged mounts still exist and keep their data. A damaged built-in mount is served with its
   * default tuning.
   */
  readonly damaged: readonly DamagedMount[];

  constructor(mounts: readonly MountRecord[], damaged: readonly DamagedMount[] = []) {
    this.damaged = damaged;
    this.#methods = new Set(mounts.filter(({ table }) => table === 'auth').map(({ type }) => type));
    this.#longestPath = mounts.reduce((longest, { path }) => Math.max(longest, path.length), 0);
    const localMounts = mounts.filter(({ local }) => local);
    for (const mount of mounts) {
      const by = findHiding(mount, localMounts);
      if (by !== undefined) {
        this.#byUuid.set(mount.uuid, mount);
        this.#hidden.push({ mount, by });
        continue;
      }
      const key = tableKey(mount.namespaceId, mount.table);
      const table = this.#tables.get(key);
      if (table === undefined) this.#tables.set(key, new Map([[mount.path, mount]]));
      else table.set(mount.path, mount);
      this.#byUuid.set(mount.uuid, mount);
      const siblings = this.#byNamespace.get(mount.namespaceId);
      if (siblings === undefined) this.#byNamespace.set(mount.namespaceId, [mount]);
      else siblings.push(mount);
    }
  }

  /**
   * The mount that serves `whole`, a path below the namespace without a leading slash. Mounts are never nested, so
   * the first prefix that is a mount is the only one.
   */
  findServing(namespaceId: string, whole: string): MountRecord | undefined {
    const isAuth = whole.startsWith(AUTH_PREFIX);
    const mounts = this.#tables.get(tableKey(namespaceId, isAuth ? 'auth' : 'secret'));
    if (mounts === undefined) return undefined;
    const path = isAuth ? whole.slice(AUTH_PREFIX.length) : whole;
    for (
      let slash = path.indexOf('/');
      slash >= 0 && slash < this.#longestPath;
      slash = path.indexOf('/', slash + 1)
    ) {
      const mount = mounts.get(path.slice(0, slash + 1));
      if (mount !== undefined) return mount;
    }
    // LIST and tune name a mount without its trailing slash.
    return mounts.get(`${path}/`);
  }

  /** Mounts of one namespace that local mounts hide; they can be found by uuid only. */
  hiddenIn(namespaceId: string, table: MountTable): readonly HiddenMount[] {
    return this.#hidden.filter(
      ({ mount }) => mount.namespaceId === namespaceId && mount.table === table,
    );
  }

  findAt(namespaceId: string, table: MountTable, path: string): MountRecord | undefined {
    return this.#tables.get(tableKey(namespaceId, table))?.get(path);
  }

  findByUuid(uuid: string): MountRecord | undefined {
    return this.#byUuid.get(uuid);
  }

  /** Damaged mounts of one namespace whose paths are unknown, so that any path may be taken. */
  unplacedIn(namespaceId: string): readonly DamagedMount[] {
    return this.damaged.filter(
      (mount) => mount.namespaceId === namespaceId && !this.#byUuid.has(mount.uuid),
    );
  }

  /** Whether a mount with this uuid exists, damaged or not. */
  has(uuid: string): boolean {
    return this.#byUuid.has(uuid) || this.damaged.some((mount) => mount.uuid === uuid);
  }

  /** Whether an auth method of this type is mounted in any namespace. */
  hasMethod(type: string): boolean {
    return this.#methods.has(type);
  }

  /** Mounts of one namespace, sorted by path. */
  of(namespaceId: string, table: MountTable): readonly MountRecord[] {
    return (this.#byNamespace.get(namespaceId) ?? [])
      .filter((mount) => mount.table === table)
      .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Includes hidden mounts. */
  all(): Iterable<MountRecord> {
    return this.#byUuid.values();
  }
}
