import { KeelsonError } from '@keelson/errors';
import type { Store, Transaction } from '@keelson/storage';
import { hasLoginRoles } from '../mounts/domain/login-roles.ts';
import { type MountRecord, mountPathOf } from '../mounts/domain/mount.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { loadMountIndex } from '../mounts/mount-records.ts';
import { ROOT_NAMESPACE_ID } from '../namespaces/domain/namespace.ts';
import type { NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import { loadNamespaceTable } from '../namespaces/namespace-records.ts';
import type { PlacedRule } from './domain/placed-quotas.ts';
import { type QuotaPlace, type QuotaSettings, samePlace } from './domain/rate-quota.ts';
import {
  findQuotaSettings,
  leaseQuotaRecords,
  type QuotaRecords,
  rateQuotaRecords,
  writeQuotaSettings,
} from './quota-records.ts';

/** Every decision looks through the quotas of a mount, and every write through all of them. */
const MAX_QUOTAS = 1000;

export interface QuotaContext {
  readonly store: Store;
  readonly mounts: () => Promise<MountIndex>;
  readonly namespaces: () => Promise<NamespaceTable>;
}

type NamedRule = PlacedRule & { readonly name: string };

export type QuotaDraft<Q extends NamedRule> = Omit<Q, keyof QuotaPlace> & {
  readonly name: string;
  readonly isInheritable: boolean;
  /** Path from the root namespace of a namespace, a mount or what is below a mount; "" for everything. */
  readonly path: string;
  /** "" for all. */
  readonly role: string;
};

/** A quota, and the path that it has now. */
export type PlacedQuota<Q extends NamedRule> = Q & { readonly path: string };

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const placeOf = (given: string, table: NamespaceTable, mounts: MountIndex): QuotaPlace => {
  const whole = given
    .split('/')
    .filter((segment) => segment !== '')
    .join('/');
  const resolved = table.resolve('', `${whole}/`);
  const path = resolved?.path.replace(/\/$/, '');
  if (resolved === undefined || path === undefined) return refuse(`no namespace for "${given}"`);
  const namespaceId = resolved.namespace.id;
  if (path === '') return { namespaceId, below: '' };
  const mount = mounts.findServing(namespaceId, path);
  if (mount === undefined)
    return refuse(`the path "${given}" is neither a namespace nor in a mount`);
  return { namespaceId, mountUuid: mount.uuid, below: path.slice(mountPathOf(mount).length) };
};

/**
 * @param requireAllowed throws for the path of a mount that quotas of the kind cannot have
 * @throws KeelsonError `request.invalid` for a path that nothing has, or that another quota has
 */
export const putQuota = <Q extends NamedRule>(
  { store }: QuotaContext,
  records: QuotaRecords<Q>,
  { path, role, ...draft }: QuotaDraft<Q>,
  requireAllowed: (mount: MountRecord, below: string) => void = () => undefined,
): Promise<void> =>
  store.transact(async (tx) => {
    const mounts = await loadMountIndex(tx);
    const placed = placeOf(path, await loadNamespaceTable(tx), mounts);
    const place = role === '' ? placed : { ...placed, role: role.toLowerCase() };
    const mount = place.mountUuid === undefined ? undefined : mounts.findByUuid(place.mountUuid);
    if (role !== '' && (mount === undefined || place.below !== '' || !hasLoginRoles(mount)))
      refuse(`role must be empty: the path "${path}" is not that of an auth method with roles`);
    if (draft.isInheritable && place.mountUuid !== undefined)
      refuse(
        'inheritable must be false for the path of a mount: only namespaces have others below them',
      );
    if (mount !== undefined) requireAllowed(mount, place.below);
    const quotas = await records.list(tx);
    const others = quotas.filter(({ name }) => name !== draft.name);
    const rival = others.find((quota) => samePlace(quota, place));
    if (rival !== undefined)
      refuse(
        `the path has the quota "${rival.name}" already${role === '' ? '' : ` for the role "${role}"`}`,
      );
    if (others.length >= MAX_QUOTAS) refuse(`there are at most ${MAX_QUOTAS} quotas`);
    await records.deleteNamed(tx, draft.name);
    const isOfEverything = place.mountUuid === undefined && place.namespaceId === ROOT_NAMESPACE_ID;
    const isInheritable = draft.isInheritable || isOfEverything;
    // The compiler does not see that a draft and its place are a quota.
    records.write(tx, { ...draft, ...place, isInheritable } as unknown as Q);
  });

/** Succeeds when there is none. */
export const deleteQuota = <Q extends NamedRule>(
  { store }: QuotaContext,
  records: QuotaRecords<Q>,
  name: string,
): Promise<void> => store.transact((tx) => records.deleteNamed(tx, name));

export const findQuota = async <Q extends NamedRule>(
  { store, mounts, namespaces }: QuotaContext,
  records: QuotaRecords<Q>,
  name: string,
): Promise<PlacedQuota<Q> | undefined> => {
  const quota = (await records.list(store)).find((one) => one.name === name);
  if (quota === undefined) return undefined;
  const namespace = (await namespaces()).findById(quota.namespaceId);
  const mount =
    quota.mountUuid === undefined ? undefined : (await mounts()).findByUuid(quota.mountUuid);
  const path = `${namespace?.path ?? ''}${mount ? mountPathOf(mount) : ''}${quota.below}`;
  return { ...quota, path };
};

/** Sorted. */
export const listQuotaNames = async <Q extends NamedRule>(
  { store }: QuotaContext,
  records: QuotaRecords<Q>,
): Promise<readonly string[]> => (await records.list(store)).map(({ name }) => name).sort();

export const readQuotaSettings = ({ store }: QuotaContext): Promise<QuotaSettings> =>
  findQuotaSettings(store);

/** @param changes what is undefined stays as it is */
export const changeQuotaSettings = (
  { store }: QuotaContext,
  changes: { readonly [K in keyof QuotaSettings]: QuotaSettings[K] | undefined },
): Promise<void> =>
  store.transact(async (tx) => {
    const known = await findQuotaSettings(tx);
    writeQuotaSettings(tx, {
      exemptPaths: changes.exemptPaths ?? known.exemptPaths,
      auditsRefusals: changes.auditsRefusals ?? known.auditsRefusals,
      statesLimits: changes.statesLimits ?? known.statesLimits,
    });
  });

const deleteOf = async <Q extends NamedRule>(
  tx: Transaction,
  records: QuotaRecords<Q>,
  uuid: string,
): Promise<void> => {
  for (const quota of await records.list(tx))
    if (quota.mountUuid === uuid) records.delete(tx, quota);
};

/** Part of the transaction that disables a mount. */
export const deleteQuotasOfMount = async (
  tx: Transaction,
  { uuid }: MountRecord,
): Promise<void> => {
  await deleteOf(tx, rateQuotaRecords, uuid);
  await deleteOf(tx, leaseQuotaRecords, uuid);
};

const moveOf = async <Q extends NamedRule>(
  tx: Transaction,
  records: QuotaRecords<Q>,
  after: MountRecord,
): Promise<void> => {
  for (const quota of await records.list(tx)) {
    if (quota.mountUuid !== after.uuid || quota.namespaceId === after.namespaceId) continue;
    records.delete(tx, quota);
    records.write(tx, { ...quota, namespaceId: after.namespaceId });
  }
};

/** Part of the transaction that moves a mount: its quotas follow it, into another namespace too. */
export const moveQuotasOfMount = async (tx: Transaction, after: MountRecord): Promise<void> => {
  await moveOf(tx, rateQuotaRecords, after);
  await moveOf(tx, leaseQuotaRecords, after);
};
