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
import type { DamagedMount, HiddenMount, MountIndex } from './domain/mount-index.ts';
import { findConflict, requireMountPath, toMountPath } from './domain/mount-path.ts';
import { requireLockingType } from './domain/user-lockout.ts';
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

export interface MountContext {
  readonly store: Store;
  readonly mounts: () => Promise<MountIndex>;
  readonly systemTtls: LeaseTtls;
  /** Called in the transaction that disables or moves a mount. */
  readonly onRemoval: (tx: Transaction, mount: MountRecord) => Promise<void>;
  /** Also called in that transaction, but only for a mount that is disabled. */
  readonly onDisabled: (tx: Transaction, mount: MountRecord) => Promise<void>;
  readonly onMoved: (tx: Transaction, before: MountRecord, after: MountRecord) => Promise<void>;
  /** Called after the transaction that moves a mount was committed. */
  readonly afterMove: () => Promise<void>;
  /** Full paths of the mounts that the primary's paths filter keeps from this cluster. */
  readonly keptBackPaths: () => Promise<readonly string[]>;
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
  { namespaceId, table, path }: MountSite,
  except?: string,
): Promise<void> => {
  const namespaces = await loadNamespaceTable(tx);
  const namespace = namespaces.findById(namespaceId);
  if (namespace === undefined || namespace.isDeleting)
    return refuse('the namespace does not exist');
  const index = await loadMountIndex(tx);
  const [damaged] = index.unplacedIn(namespaceId);
  if (damaged !== undefined)
    refuse(
      `the mount ${damaged.uuid} of this namespace is damaged and its path is not known: repair it first (docs/runbooks/repair-damage.md)`,
    );
  const hidden = index.hiddenIn(namespaceId, table).map(({ mount }) => mount);
  const siblings = [...index.of(namespaceId, table), ...hidden];
  const taken = siblings.filter(({ uuid }) => uuid !== except).map((mount) => mount.path);
  // No namespace can be named `auth`.
  const children =
    table === 'auth'
      ? []
      : namespaces.childrenOf(namespace).map((child) => child.path.slice(namespace.path.length));
  const conflict = findConflict(path, [...taken, ...children]);
  if (conflict !== undefined) refuse(`path is already in use at ${conflict}`);
};

/** Splits "team-a/pki" into the namespace below `base` and the path of the mount in it. */
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

/** Only logins have a type of token. */
const requireTokenTypeOfLogins = ({ table, type, path }: MountRecord, { config }: TuneMount) => {
  if (config.tokenType !== undefined && (table !== 'auth' || type === 'token'))
    refuse(`token_type has no effect on the mount ${path}: it has no logins`);
};

/** No engine serves a built-in mount, and only tokens have lifetimes. */
const requireEffectOnBuiltIn = ({ path, type }: MountRecord, { config }: TuneMount): void => {
  const settings = {
    passthrough_request_headers: config.passthroughRequestHeaders?.length,
    allowed_response_headers: config.allowedResponseHeaders?.length,
    ...(type !== 'token' && {
      default_lease_ttl: config.defaultLeaseTtlSeconds,
      max_lease_ttl: config.maxLeaseTtlSeconds,
    }),
  };
  for (const [name, value = 0] of Object.entries(settings))
    if (value !== 0) refuse(`${name} has no effect on the built-in mount ${path}`);
};

const setsAuditKeys = ({ config }: TuneMount): boolean =>
  config.auditNonHmacRequestKeys !== undefined || config.auditNonHmacResponseKeys !== undefined;

const findIn = (index: MountIndex, { namespaceId, table, path }: MountSite) =>
  index.findAt(namespaceId, table, toMountPath(path));

const findStored = async (tx: Transaction, site: MountSite) =>
  findIn(await loadMountIndex(tx), site);

export const listMounts = async (
  { mounts }: MountContext,
  namespaceId: string,
  table: MountTable,
): Promise<readonly MountRecord[]> => (await mounts()).of(namespaceId, table);

/** Mounts whose records cannot be decrypted. */
export const listDamagedMounts = async (
  { mounts }: MountContext,
  namespaceId: string,
): Promise<readonly DamagedMount[]> => (await mounts()).unplacedIn(namespaceId);

/** Mounts of the primary that local mounts of this cluster hide. */
export const listHiddenMounts = async (
  { mounts }: MountContext,
  namespaceId: string,
  table: MountTable,
): Promise<readonly HiddenMount[]> => (await mounts()).hiddenIn(namespaceId, table);

export const findMount = async (
  { mounts }: MountContext,
  site: MountSite,
): Promise<MountRecord | undefined> => findIn(await mounts(), site);

export const enableMount = (
  { store, systemTtls }: MountContext,
  site: MountSite,
  given: EnableMount,
): Promise<MountRecord> =>
  store.transact(async (tx) => {
    const engine = await findEngineType(tx, given.type);
    if (engine?.isAuthMethod !== (site.table === 'auth'))
      refuse(
        given.type === 'token'
          ? 'token credential backend cannot be instantiated'
          : `plugin not found in the catalog: ${given.type}`,
      );
    const path = requireMountPath(site.path);
    await requireFreePath(tx, { ...site, path });
    const config = withConfigChanges(DEFAULT_MOUNT_CONFIG, given.config);
    requireMountableTtls(config, systemTtls);
    const uuid = randomUUID();
    const accessor = toAccessor(given.type, uuid);
    const mount: MountRecord = { ...given, ...site, path, uuid, accessor, config };
    requireTokenTypeOfLogins(mount, given);
    requireLockingType(mount.type, given.config);
    writeMount(tx, mount);
    return mount;
  });

/** Succeeds when there is no such mount. Services delete the data of the mount, and its leases end. */
export const disableMount = (
  { store, onRemoval, onDisabled }: MountContext,
  site: MountSite,
): Promise<void> =>
  store.transact(async (tx) => {
    const mount = await findStored(tx, site);
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
  });

export const tuneMount = (
  { store, systemTtls }: MountContext,
  site: MountSite,
  changes: TuneMount,
): Promise<void> =>
  store.transact(async (tx) => {
    const mount = await findStored(tx, site);
    if (mount === undefined) return absent(site);
    if (isBuiltIn(mount)) requireEffectOnBuiltIn(mount, changes);
    requireTokenTypeOfLogins(mount, changes);
    requireLockingType(mount.type, changes.config);
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
  });

/** Both paths may start with namespaces below `namespace`. @returns the migration id */
export const moveMount = async (
  { store, onRemoval, onMoved, afterMove }: MountContext,
  namespace: { readonly path: string },
  from: string,
  to: string,
): Promise<string> => {
  const migration = await store.transact(async (tx) => {
    const table = await loadNamespaceTable(tx);
    const source = toSite(table, namespace, from);
    const target = toSite(table, namespace, to);
    const mount = await findStored(tx, source);
    if (mount === undefined) return refuse(`no matching mount at "${toMountPath(from)}"`);
    if (isBuiltIn(mount)) refuse(`cannot remount "${mount.path}"`);
    if (target.table !== source.table)
      refuse('cannot remount a secrets mount to an auth mount, nor the other way round');
    const path = requireMountPath(target.path);
    await requireFreePath(tx, { ...target, path }, mount.uuid);
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
};

export const findRemount = (
  { store }: MountContext,
  migrationId: string,
): Promise<Remount | undefined> => remountRecords.find(store, migrationId);
