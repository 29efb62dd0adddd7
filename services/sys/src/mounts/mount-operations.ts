import { randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Store, Transaction } from '@keelson/storage';
import { bumpAuditGeneration } from '../audit/audit-records.ts';
import type { NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import { loadNamespaceTable } from '../namespaces/namespace-records.ts';
import { type LeaseTtls, requireMountableTtls, requireTunableTtls } from './domain/lease-ttl.ts';
import {
  DEFAULT_MOUNT_CONFIG,
  type MountConfigChanges,
  type MountRecord,
  type MountTable,
  withConfigChanges,
} from './domain/mount.ts';
import type { HiddenMount, MountIndex } from './domain/mount-index.ts';
import { findConflict, requireMountPath, toMountPath } from './domain/mount-path.ts';
import { findEngineType } from './engine-type-records.ts';
import { deleteMount, isBuiltIn, loadMountIndex, writeMount } from './mount-records.ts';
import { type Remount, remountRecords } from './remount-records.ts';

export interface MountSite {
  readonly namespaceId: string;
  readonly table: MountTable;
  readonly path: string;
}

type EnableMount = Pick<MountRecord, 'type' | 'description' | 'local' | 'options'> & {
  readonly config: MountConfigChanges;
};

export interface TuneMount {
  readonly description?: string | undefined;
  readonly options?: Readonly<Record<string, string>> | undefined;
  readonly config: MountConfigChanges;
}

export interface MountOperations {
  list(namespaceId: string, table: MountTable): Promise<readonly MountRecord[]>;
  /** Those of the primary that local mounts of this cluster hide. */
  listHidden(namespaceId: string, table: MountTable): Promise<readonly HiddenMount[]>;
  find(site: MountSite): Promise<MountRecord | undefined>;
  enable(site: MountSite, mount: EnableMount): Promise<MountRecord>;
  /** Absent is success. The services drop what they hold for the mount; its leases end. */
  disable(site: MountSite): Promise<void>;
  tune(site: MountSite, changes: TuneMount): Promise<void>;
  /** Both paths may begin with namespaces below `namespace`. @returns the migration id */
  remount(namespace: { readonly path: string }, from: string, to: string): Promise<string>;
  findRemount(migrationId: string): Promise<Remount | undefined>;
}

export interface MountDependencies {
  readonly store: Store;
  readonly mounts: () => Promise<MountIndex>;
  readonly systemTtls: LeaseTtls;
  /** Called in the transaction that disables or moves a mount. */
  readonly onRemoval: (tx: Transaction, mount: MountRecord) => Promise<void>;
  /** Called in the transaction, besides. */
  readonly onDisabled: (tx: Transaction, mount: MountRecord) => Promise<void>;
  readonly onMoved: (tx: Transaction, before: MountRecord, after: MountRecord) => Promise<void>;
  /** Called once that is committed. */
  readonly afterMove: () => Promise<void>;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const toAccessor = (type: string, uuid: string): string => `${type}_${uuid.slice(-8)}`;

const absent = (site: MountSite): never =>
  refuse(
    `No ${site.table === 'secret' ? 'secret engine' : 'auth engine'} mount at ${toMountPath(site.path)}`,
  );

const requireFreePath = async (
  tx: Transaction,
  namespaceId: string,
  path: string,
  except?: string,
): Promise<void> => {
  const namespaces = await loadNamespaceTable(tx);
  const namespace = namespaces.findById(namespaceId);
  if (namespace === undefined || namespace.isDeleting)
    return refuse('the namespace does not exist');
  const index = await loadMountIndex(tx);
  const hidden = index.hiddenIn(namespaceId, 'secret').map(({ mount }) => mount);
  const siblings = [...index.of(namespaceId, 'secret'), ...hidden];
  const taken = siblings.filter(({ uuid }) => uuid !== except).map((mount) => mount.path);
  const children = namespaces
    .childrenOf(namespace)
    .map((child) => child.path.slice(namespace.path.length));
  const conflict = findConflict(path, [...taken, ...children]);
  if (conflict !== undefined) refuse(`path is already in use at ${conflict}`);
};

/** "team-a/pki" -> the namespace it names below `base`, and the mount's path there. */
const toSite = (
  table: NamespaceTable,
  base: { readonly path: string },
  given: string,
): MountSite => {
  const resolved = table.resolve(base.path, toMountPath(given));
  if (resolved === undefined) return refuse(`no namespace for path "${given}"`);
  const { namespace, path } = resolved;
  return path.startsWith('auth/')
    ? { namespaceId: namespace.id, table: 'auth', path: path.slice('auth/'.length) }
    : { namespaceId: namespace.id, table: 'secret', path };
};

const setsAuditKeys = ({ config }: TuneMount): boolean =>
  config.auditNonHmacRequestKeys !== undefined || config.auditNonHmacResponseKeys !== undefined;

/** Mounts of one store. */
export const createMountOperations = ({
  store,
  mounts,
  systemTtls,
  onRemoval,
  onDisabled,
  onMoved,
  afterMove,
}: MountDependencies): MountOperations => {
  const findIn = (index: MountIndex, { namespaceId, table, path }: MountSite) =>
    index.findAt(namespaceId, table, toMountPath(path));
  const find = async (tx: Transaction, site: MountSite) => findIn(await loadMountIndex(tx), site);

  return {
    list: async (namespaceId, table) => (await mounts()).of(namespaceId, table),
    listHidden: async (namespaceId, table) => (await mounts()).hiddenIn(namespaceId, table),
    find: async (site) => findIn(await mounts(), site),

    enable: (site, given) =>
      store.transact(async (tx) => {
        if (site.table === 'auth' || (await findEngineType(tx, given.type)) === undefined)
          refuse(
            given.type === 'token'
              ? 'token credential backend cannot be instantiated'
              : `plugin not found in the catalog: ${given.type}`,
          );
        const path = requireMountPath(site.path);
        await requireFreePath(tx, site.namespaceId, path);
        const config = withConfigChanges(DEFAULT_MOUNT_CONFIG, given.config);
        requireMountableTtls(config, systemTtls);
        const uuid = randomUUID();
        const accessor = toAccessor(given.type, uuid);
        const mount: MountRecord = { ...given, ...site, path, uuid, accessor, config };
        writeMount(tx, mount);
        return mount;
      }),

    disable: (site) =>
      store.transact(async (tx) => {
        const mount = await find(tx, site);
        if (mount === undefined) return;
        if (isBuiltIn(mount))
          refuse(
            mount.table === 'auth'
              ? 'token credential backend cannot be disabled'
              : `cannot unmount "${mount.path}"`,
          );
        await onRemoval(tx, mount);
        await onDisabled(tx, mount);
        deleteMount(tx, mount);
      }),

    tune: (site, changes) =>
      store.transact(async (tx) => {
        const mount = await find(tx, site);
        if (mount === undefined) return absent(site);
        const { defaultLeaseTtlSeconds, maxLeaseTtlSeconds } = changes.config;
        const ttls = requireTunableTtls(
          mount.config,
          { defaultLeaseTtlSeconds, maxLeaseTtlSeconds },
          systemTtls,
        );
        writeMount(tx, {
          ...mount,
          description: changes.description ?? mount.description,
          options: { ...mount.options, ...changes.options },
          config: withConfigChanges(mount.config, { ...changes.config, ...ttls }),
        });
        if (setsAuditKeys(changes)) await bumpAuditGeneration(tx);
      }),

    remount: async (namespace, from, to) => {
      const migration = await store.transact(async (tx) => {
        const table = await loadNamespaceTable(tx);
        const source = toSite(table, namespace, from);
        const target = toSite(table, namespace, to);
        const mount = await find(tx, source);
        if (mount === undefined) return refuse(`no matching mount at "${toMountPath(from)}"`);
        if (isBuiltIn(mount)) refuse(`cannot remount "${mount.path}"`);
        if (target.table !== source.table)
          refuse('cannot remount a secrets mount to an auth mount, nor the other way round');
        const path = requireMountPath(target.path);
        await requireFreePath(tx, target.namespaceId, path, mount.uuid);
        await onRemoval(tx, mount);
        deleteMount(tx, mount);
        const moved = { ...mount, namespaceId: target.namespaceId, path };
        await onMoved(tx, mount, moved);
        writeMount(tx, moved);
        const migrationId = randomUUID();
        remountRecords.write(tx, migrationId, {
          sourceMount: toMountPath(from),
          targetMount: toMountPath(to),
          status: 'success',
        });
        return migrationId;
      });
      await afterMove();
      return migration;
    },

    findRemount: (migrationId) => remountRecords.find(store, migrationId),
  };
};
