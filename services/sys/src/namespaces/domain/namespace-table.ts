/**
 * All namespaces, indexed for the look-up of every request: the namespace that a header and a path prefix
 * select together, and the locks that cover it.
 */
import { type NamespaceRecord, parentPathOf, ROOT, toNamespacePath } from './namespace.ts';

export interface ResolvedNamespace {
  readonly namespace: NamespaceRecord;
  /** The rest of the request path, relative to the namespace. */
  readonly path: string;
}

export class NamespaceTable {
  readonly #byPath = new Map<string, NamespaceRecord>([['', ROOT]]);
  readonly #byId = new Map<string, NamespaceRecord>([[ROOT.id, ROOT]]);
  readonly #children = new Map<string, NamespaceRecord[]>();
  readonly #lockedIds: ReadonlySet<string>;
  /** Ids of namespaces whose records cannot be decrypted: they exist, but their paths are unknown. */
  readonly damaged: ReadonlySet<string>;

  constructor(
    records: readonly NamespaceRecord[],
    lockedIds: ReadonlySet<string>,
    damaged: readonly string[] = [],
  ) {
    this.#lockedIds = lockedIds;
    this.damaged = new Set(damaged);
    // Parents come first. A damaged parent may be locked, so nothing below it can be reached.
    for (const record of records.toSorted((a, b) => a.path.length - b.path.length)) {
      this.#byId.set(record.id, record);
      const parent = parentPathOf(record.path);
      if (record.isDeleting || !this.#byPath.has(parent)) continue;
      this.#byPath.set(record.path, record);
      const siblings = this.#children.get(parent);
      if (siblings === undefined) this.#children.set(parent, [record]);
      else siblings.push(record);
    }
  }

  /** By full path with a trailing slash; "" is the root. */
  findByPath(path: string): NamespaceRecord | undefined {
    return this.#byPath.get(path);
  }

  /** Includes namespaces being removed: their mounts are served until their secrets are revoked. */
  findById(id: string): NamespaceRecord | undefined {
    return this.#byId.get(id);
  }

  /** Includes the root and namespaces being removed. */
  all(): Iterable<NamespaceRecord> {
    return this.#byId.values();
  }

  /**
   * The namespace of a request: the value of the header, followed by as many leading segments of the path as
   * name children. Undefined when the header names no existing namespace.
   */
  resolve(header: string, path: string): ResolvedNamespace | undefined {
    let namespace = header === '' ? ROOT : this.#byPath.get(toNamespacePath(header));
    if (namespace === undefined) return undefined;
    let rest = path;
    for (;;) {
      const slash = rest.indexOf('/');
      if (slash < 0) return { namespace, path: rest };
      const child = this.#byPath.get(namespace.path + rest.slice(0, slash + 1));
      // A namespace takes precedence over a mount, which cannot have the path of a namespace.
      if (child === undefined || slash === 0) return { namespace, path: rest };
      namespace = child;
      rest = rest.slice(slash + 1);
    }
  }

  /** Direct children, sorted by path. */
  childrenOf(namespace: { readonly path: string }): readonly NamespaceRecord[] {
    return (this.#children.get(namespace.path) ?? []).toSorted((a, b) =>
      a.path < b.path ? -1 : 1,
    );
  }

  /** The namespace itself, then its ancestors up to the root. */
  lineageOf(namespace: { readonly path: string }): NamespaceRecord[] {
    const lineage: NamespaceRecord[] = [];
    for (let path = namespace.path; ; path = parentPathOf(path)) {
      const record = this.#byPath.get(path);
      if (record !== undefined) lineage.push(record);
      if (path === '') return lineage;
    }
  }

  /** The locked namespace at or above `namespace`, if any. */
  lockedBy(namespace: { readonly path: string }): NamespaceRecord | undefined {
    if (this.#lockedIds.size === 0) return undefined;
    return this.lineageOf(namespace).find(({ id }) => this.#lockedIds.has(id));
  }
}

/** True when `inner` equals `outer` or lies below it. */
export const contains = (
  outer: { readonly path: string },
  inner: { readonly path: string },
): boolean => inner.path.startsWith(outer.path);
