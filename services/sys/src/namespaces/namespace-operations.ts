import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Store, Transaction } from '@keelson/storage';
import { requireMetadata } from '../metadata/domain/metadata.ts';
import { loadMountIndex } from '../mounts/mount-records.ts';
import {
  type NamespaceRecord,
  parentPathOf,
  requireChildPath,
  toSegments,
} from './domain/namespace.ts';
import type { NamespaceTable } from './domain/namespace-table.ts';
import {
  loadNamespaceTable,
  namespaceLockRecords,
  namespaceRecords,
  removeBelow,
} from './namespace-records.ts';

type Metadata = Readonly<Record<string, string>>;

export interface NamespaceOperations {
  listChildren(parentPath: string): Promise<readonly NamespaceRecord[]>;
  find(parentPath: string, relativePath: string): Promise<NamespaceRecord | undefined>;
  /** Creates it, or replaces the metadata of an existing one. */
  write(parentPath: string, relativePath: string, metadata?: Metadata): Promise<NamespaceRecord>;
  /** Undefined when there is no such namespace. */
  changeMetadata(
    parentPath: string,
    relativePath: string,
    change: (before: Metadata) => Metadata,
  ): Promise<NamespaceRecord | undefined>;
  /**
   * Removes it with all it holds; without children only. Absent is success. It is out of reach at once,
   * and gone when the engines have taken back what is under its leases.
   */
  remove(parentPath: string, relativePath: string): Promise<void>;
  /** Continues removals that were interrupted or wait for an engine. */
  resumeRemovals(): Promise<void>;
  /**
   * Removes what this cluster kept of its own for namespaces that are here no longer: a paths filter keeps
   * them back, or the primary removed them. Costs nothing while the namespaces are those of the call before.
   */
  removeDeparted(): Promise<void>;
  /** @returns the key that unlocks */
  lock(parentPath: string, relativePath: string): Promise<string>;
  /** Without a key only for a caller with power over it, which the caller of this decides. */
  unlock(parentPath: string, relativePath: string, key: string | undefined): Promise<void>;
}

export interface NamespaceDependencies {
  readonly store: Store;
  readonly namespaces: () => Promise<NamespaceTable>;
  /** Takes back what is under the leases of a namespace; false while some must be tried again. */
  readonly endLeases: (namespaceId: string) => Promise<boolean>;
  /** Called in a transaction before its records are removed. */
  readonly onRemoval: (tx: Transaction, namespaceId: string) => Promise<void>;
  /** Prefixes of all records that a namespace holds. */
  readonly contentPrefixes: (namespaceId: string) => readonly string[];
  /** Ids of those for which this cluster keeps something of its own. */
  readonly withOwnContent: () => Promise<readonly string[]>;
}

const ID_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 5;

const drawId = (): string =>
  Array.from({ length: ID_LENGTH }, () => ID_ALPHABET[randomInt(ID_ALPHABET.length)]).join('');

/** Of this cluster itself, whoever its primary is. */
const isLocal = (prefix: string): boolean => prefix.startsWith('local/');

const hashKey = (key: string): Buffer => createHash('sha256').update(key).digest();

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const childPath = (parentPath: string, relativePath: string): string => {
  const segments = toSegments(relativePath);
  return segments.length === 0 ? parentPath : `${parentPath}${segments.join('/')}/`;
};

const requireNamespace = (table: NamespaceTable, path: string): NamespaceRecord =>
  table.findByPath(path) ??
  (() => {
    throw new KeelsonError('request.not_found', { text: `namespace "${path}" not found` });
  })();

const requireFreePath = async (tx: Transaction, parentId: string, name: string): Promise<void> => {
  const mounts = (await loadMountIndex(tx)).of(parentId, 'secret');
  const conflict = mounts.find(({ path }) => path.startsWith(name));
  if (conflict !== undefined) refuse(`path is already in use at ${conflict.path}`);
};

const createNamespace = async (
  tx: Transaction,
  table: NamespaceTable,
  path: string,
  customMetadata: Metadata,
): Promise<NamespaceRecord> => {
  const parentPath = parentPathOf(path);
  const parent = table.findByPath(parentPath);
  if (parent === undefined) return refuse(`parent namespace "${parentPath}" does not exist`);
  await requireFreePath(tx, parent.id, path.slice(parentPath.length));
  const known = await namespaceRecords.entries(tx);
  if (known.some(([, other]) => other.path === path))
    return refuse(`namespace "${path}" is being deleted`);
  const ids = new Set(known.map(([id]) => id));
  let id = drawId();
  while (ids.has(id)) id = drawId();
  const created = { id, path, customMetadata, isDeleting: false };
  namespaceRecords.write(tx, id, created);
  return created;
};

/** Namespaces of one store. */
export const createNamespaceOperations = ({
  store,
  namespaces,
  endLeases,
  onRemoval,
  contentPrefixes,
  withOwnContent,
}: NamespaceDependencies): NamespaceOperations => {
  let seen: NamespaceTable | undefined;
  /** Safe to repeat. The namespace stays, unreachable, until its engines took their secrets back. */
  const continueRemoval = async (id: string): Promise<void> => {
    if (!(await endLeases(id))) return;
    await store.transact((tx) => onRemoval(tx, id));
    for (const prefix of contentPrefixes(id)) await removeBelow(store, prefix);
    await store.transact((tx) => {
      namespaceLockRecords.delete(tx, id);
      namespaceRecords.delete(tx, id);
    });
  };

  return {
    listChildren: async (parentPath) => (await namespaces()).childrenOf({ path: parentPath }),

    find: async (parentPath, relativePath) =>
      (await namespaces()).findByPath(childPath(parentPath, relativePath)),

    write: async (parentPath, relativePath, metadata) => {
      const path = requireChildPath(parentPath, relativePath);
      if (metadata !== undefined) requireMetadata('custom_metadata', metadata);
      return store.transact(async (tx) => {
        const table = await loadNamespaceTable(tx);
        const existing = table.findByPath(path);
        if (existing === undefined) return createNamespace(tx, table, path, metadata ?? {});
        if (metadata === undefined) return existing;
        const changed = { ...existing, customMetadata: metadata };
        namespaceRecords.write(tx, existing.id, changed);
        return changed;
      });
    },

    changeMetadata: async (parentPath, relativePath, change) =>
      store.transact(async (tx) => {
        const table = await loadNamespaceTable(tx);
        const path = childPath(parentPath, relativePath);
        const existing = path === parentPath ? undefined : table.findByPath(path);
        if (existing === undefined) return undefined;
        const changed = { ...existing, customMetadata: change(existing.customMetadata) };
        requireMetadata('custom_metadata', changed.customMetadata);
        namespaceRecords.write(tx, existing.id, changed);
        return changed;
      }),

    remove: async (parentPath, relativePath) => {
      const path = requireChildPath(parentPath, relativePath);
      const id = await store.transact(async (tx) => {
        const table = await loadNamespaceTable(tx);
        const existing = table.findByPath(path);
        if (existing === undefined) return undefined;
        if (table.childrenOf(existing).length > 0)
          refuse(`cannot delete namespace (${existing.id}): contains child namespaces`);
        namespaceRecords.write(tx, existing.id, { ...existing, isDeleting: true });
        return existing.id;
      });
      if (id !== undefined) await continueRemoval(id);
    },

    resumeRemovals: async () => {
      for (const [id, record] of await namespaceRecords.entries(store))
        if (record.isDeleting) await continueRemoval(id);
    },

    removeDeparted: async () => {
      const table = await namespaces();
      if (table === seen) return;
      let isOver = true;
      for (const id of await withOwnContent()) {
        if (table.findById(id) !== undefined) continue;
        const isEnded = await endLeases(id);
        isOver &&= isEnded;
        if (!isEnded) continue;
        for (const prefix of contentPrefixes(id))
          if (isLocal(prefix)) await removeBelow(store, prefix);
      }
      if (isOver) seen = table;
    },

    lock: async (parentPath, relativePath) => {
      const key = randomBytes(18).toString('base64url');
      await store.transact(async (tx) => {
        const path = childPath(parentPath, relativePath);
        const { id } = requireNamespace(await loadNamespaceTable(tx), path);
        if ((await namespaceLockRecords.find(tx, id)) !== undefined)
          refuse(`namespace "${path}" is already locked`);
        namespaceLockRecords.write(tx, id, { unlockKeyHash: hashKey(key).toString('hex') });
      });
      return key;
    },

    unlock: (parentPath, relativePath, key) =>
      store.transact(async (tx) => {
        const path = childPath(parentPath, relativePath);
        const { id } = requireNamespace(await loadNamespaceTable(tx), path);
        const lock = await namespaceLockRecords.find(tx, id);
        if (lock === undefined) return refuse(`namespace "${path}" is not locked`);
        if (
          key !== undefined &&
          !timingSafeEqual(hashKey(key), Buffer.from(lock.unlockKeyHash, 'hex'))
        )
          refuse('incorrect unlock key');
        namespaceLockRecords.delete(tx, id);
      }),
  };
};
