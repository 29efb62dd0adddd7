import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { removeOwned, type Store, type Transaction } from '@keelson/storage';
import { requireMetadata } from '../metadata/domain/metadata.ts';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import {
  type NamespaceRecord,
  parentPathOf,
  requireChildPath,
  toSegments,
} from './domain/namespace.ts';
import type { NamespaceTable } from './domain/namespace-table.ts';
import { loadNamespaceTable, namespaceLockRecords, namespaceRecords } from './namespace-records.ts';

type Metadata = Readonly<Record<string, string>>;

export interface NamespaceContext {
  readonly store: Store;
  readonly namespaces: () => Promise<NamespaceTable>;
  /** Path of a secrets mount of the namespace that starts with `path`; undefined if the path is free. */
  readonly findMountBelow: (
    tx: Transaction,
    namespaceId: string,
    path: string,
  ) => Promise<string | undefined>;
  /** Ends the leases of a namespace; false while some revocations must be retried. */
  readonly endLeases: (namespaceId: string) => Promise<boolean>;
  /** Called in a transaction before the records of the namespace are removed. */
  readonly onRemoval: (tx: Transaction, namespaceId: string) => Promise<void>;
}

const ID_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 5;

const drawId = (): string =>
  Array.from({ length: ID_LENGTH }, () => ID_ALPHABET[randomInt(ID_ALPHABET.length)]).join('');

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

/** Refuses changes while a namespace is damaged, because it may have any path. */
const requireKnownPaths = (table: NamespaceTable): void => {
  const [damaged] = table.damaged;
  if (damaged !== undefined)
    throw new KeelsonError('barrier.damaged_value', { path: namespaceRecords.path(damaged) });
};

const createNamespace = async (
  tx: Transaction,
  table: NamespaceTable,
  findMountBelow: NamespaceContext['findMountBelow'],
  path: string,
  customMetadata: Metadata,
): Promise<NamespaceRecord> => {
  const parentPath = parentPathOf(path);
  const parent = table.findByPath(parentPath);
  if (parent === undefined) return refuse(`parent namespace "${parentPath}" does not exist`);
  const mountPath = await findMountBelow(tx, parent.id, path.slice(parentPath.length));
  if (mountPath !== undefined) refuse(`path is already in use at ${mountPath}`);
  requireKnownPaths(table);
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

/** Idempotent. The namespace remains, unreachable, until the engines have revoked its secrets. */
const continueRemoval = async (
  { endLeases, store, onRemoval }: NamespaceContext,
  id: string,
): Promise<void> => {
  if (!(await endLeases(id))) return;
  await store.transact((tx) => onRemoval(tx, id));
  await removeOwned(store, { kind: OF_NAMESPACE.kind, id });
  await store.transact((tx) => namespaceRecords.delete(tx, id));
};

export const listChildNamespaces = async (
  { namespaces }: NamespaceContext,
  parentPath: string,
): Promise<readonly NamespaceRecord[]> => (await namespaces()).childrenOf({ path: parentPath });

export const findNamespace = async (
  { namespaces }: NamespaceContext,
  parentPath: string,
  relativePath: string,
): Promise<NamespaceRecord | undefined> =>
  (await namespaces()).findByPath(childPath(parentPath, relativePath));

/** Creates a namespace, or replaces the metadata of an existing one. */
export const writeNamespace = async (
  { store, findMountBelow }: NamespaceContext,
  parentPath: string,
  relativePath: string,
  metadata?: Metadata,
): Promise<NamespaceRecord> => {
  const path = requireChildPath(parentPath, relativePath);
  if (metadata !== undefined) requireMetadata('custom_metadata', metadata);
  return store.transact(async (tx) => {
    const table = await loadNamespaceTable(tx);
    const existing = table.findByPath(path);
    if (existing === undefined)
      return createNamespace(tx, table, findMountBelow, path, metadata ?? {});
    if (metadata === undefined) return existing;
    const changed = { ...existing, customMetadata: metadata };
    namespaceRecords.write(tx, existing.id, changed);
    return changed;
  });
};

/** Undefined when there is no such namespace. */
export const changeNamespaceMetadata = async (
  { store }: NamespaceContext,
  parentPath: string,
  relativePath: string,
  change: (before: Metadata) => Metadata,
): Promise<NamespaceRecord | undefined> =>
  store.transact(async (tx) => {
    const table = await loadNamespaceTable(tx);
    const path = childPath(parentPath, relativePath);
    const existing = path === parentPath ? undefined : table.findByPath(path);
    if (existing === undefined) return undefined;
    const changed = { ...existing, customMetadata: change(existing.customMetadata) };
    requireMetadata('custom_metadata', changed.customMetadata);
    namespaceRecords.write(tx, existing.id, changed);
    return changed;
  });

/**
 * Removes a namespace without children and everything in it. It is unreachable at once, and gone when the
 * engines have revoked the secrets under its leases.
 * @returns whether there was one
 */
export const removeNamespace = async (
  context: NamespaceContext,
  parentPath: string,
  relativePath: string,
): Promise<boolean> => {
  const path = requireChildPath(parentPath, relativePath);
  const id = await context.store.transact(async (tx) => {
    const table = await loadNamespaceTable(tx);
    const existing = table.findByPath(path);
    if (existing === undefined) return undefined;
    if (table.childrenOf(existing).length > 0)
      refuse(`cannot delete namespace (${existing.id}): contains child namespaces`);
    namespaceRecords.write(tx, existing.id, { ...existing, isDeleting: true });
    return existing.id;
  });
  if (id !== undefined) await continueRemoval(context, id);
  return id !== undefined;
};

/** Continues removals that were interrupted or that wait for an engine. */
export const resumeNamespaceRemovals = async (context: NamespaceContext): Promise<void> => {
  for (const { id, isDeleting } of (await context.namespaces()).all())
    if (isDeleting) await continueRemoval(context, id);
};

/** @returns the unlock key */
export const lockNamespace = async (
  { store }: NamespaceContext,
  parentPath: string,
  relativePath: string,
): Promise<string> => {
  const key = randomBytes(18).toString('base64url');
  await store.transact(async (tx) => {
    const path = childPath(parentPath, relativePath);
    const { id } = requireNamespace(await loadNamespaceTable(tx), path);
    if ((await namespaceLockRecords.find(tx, id)) !== undefined)
      refuse(`namespace "${path}" is already locked`);
    namespaceLockRecords.write(tx, id, { unlockKeyHash: hashKey(key).toString('hex') });
  });
  return key;
};

/** Only callers with rights over the namespace may omit the key; the routes decide who has them. */
export const unlockNamespace = (
  { store }: NamespaceContext,
  parentPath: string,
  relativePath: string,
  key: string | undefined,
): Promise<void> =>
  store.transact(async (tx) => {
    const path = childPath(parentPath, relativePath);
    const { id } = requireNamespace(await loadNamespaceTable(tx), path);
    const lock = await namespaceLockRecords.find(tx, id);
    if (lock === undefined) return refuse(`namespace "${path}" is not locked`);
    if (key !== undefined && !timingSafeEqual(hashKey(key), Buffer.from(lock.unlockKeyHash, 'hex')))
      refuse('incorrect unlock key');
    namespaceLockRecords.delete(tx, id);
  });
