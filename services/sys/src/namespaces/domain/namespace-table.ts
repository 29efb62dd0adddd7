/**
 * All namespaces, ready for the look-up of every request: which namespace a header and a path prefix
 * name together, and which locks cover it.
 */
import { type NamespaceRecord, parentPathOf, ROOT, toNamespacePath } from './namespace.ts';

export interface ResolvedNamespace {
  readonly namespace: NamespaceRecord;
  /** What is left of the request path, below the namespace. */
  readonly path: string;
}

export class NamespaceTable {
  readonly #byPath = new Map<string, NamespaceRecord>([['', ROOT]]);
  readonly #byId = new Map<string, NamespaceRecord>([[ROOT.id, ROOT]]);
  readonly #children = new Map<string, NamespaceRecord[]>();
  readonly #lockedIds: ReadonlySet<string>;

  constructor(records: readonly NamespaceRecord[], lockedIds: ReadonlySet<string>) {
    this.#lockedIds = lockedIds;
    for (const record of records) {
      this.#byId.set(record.id, record);
      if (record.isDeleting) continue;
      this.#byPath.set(record.path, record);
      const parent = parentPathOf(record.path);
      const siblings = this.#children.get(parent);
      if (siblings === undefined) this.#children.set(parent, [record]);
      else siblings.push(record);
    }
  }

  /** By full path with a trailing slash; "" is the root. */
  findByPath(path: string): NamespaceRecord | undefined {
    return this.#byPath.get(path);
  }

  /** Also one that is being removed: its mounts are served until its secrets are taken back. */
  findById(id: string): NamespaceRecord | undefined {
    return this.#byId.get(id);
  }

  /** Also those that are being removed, and the root. */
  all(): Iterable<NamespaceRecord> {
    return this.#byId.values();
  }

  /**
   * The namespace of a request: the header's value, then as many leading segments of the path as name
   * children. Undefined when the header names no namespace.
   */
  resolve(header: string, path: string): ResolvedNamespace | undefined {
    let namespace = header === '' ? ROOT : this.#byPath.get(toNamespacePath(header));
    if (namespace === undefined) return undefined;
    let rest = path;
    for (;;) {
      const slash = rest.indexOf('/');
      if (slash < 0) return { namespace, path: rest };
      const child = this.#byPath.get(namespace.path + rest.slice(0, slash + 1));
      // A namespace is the longer match; mounts cannot take the path of one.
      if (child === undefined || slash === 0) return { namespace, path: rest };
      namespace = child;
      rest = rest.slice(slash + 1);
    }
  }

  /** Direct children, by path. */
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

  /** The namespace at or above `namespace` whose API is locked. */
  lockedBy(namespace: { readonly path: string }): NamespaceRecord | undefined {
    if (this.#lockedIds.size === 0) return undefined;
    return this.lineageOf(namespace).find(({ id }) => this.#lockedIds.has(id));
  }
}

/** True when `inner` is `outer` or lies below it. */
export const contains = (
  outer: { readonly path: string },
  inner: { readonly path: string },
): boolean => inner.path.startsWith(outer.path);
