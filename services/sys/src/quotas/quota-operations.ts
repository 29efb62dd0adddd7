import { KeelsonError } from '@keelson/errors';
import type { Store, Transaction } from '@keelson/storage';
import { type MountRecord, mountPathOf } from '../mounts/domain/mount.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { loadMountIndex } from '../mounts/mount-records.ts';
import { ROOT_NAMESPACE_ID } from '../namespaces/domain/namespace.ts';
import type { NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import { loadNamespaceTable } from '../namespaces/namespace-records.ts';
import {
  type QuotaPlace,
  type QuotaSettings,
  type RateQuota,
  samePlace,
} from './domain/rate-quota.ts';
import {
  deleteQuotaNamed,
  deleteQuotaRecord,
  findQuotaSettings,
  listQuotas,
  writeQuota,
  writeQuotaSettings,
} from './quota-records.ts';

/** Every decision looks through the quotas of a mount, and every write through all of them. */
const MAX_QUOTAS = 1000;

export interface QuotaContext {
  readonly store: Store;
  readonly mounts: () => Promise<MountIndex>;
  readonly namespaces: () => Promise<NamespaceTable>;
}

export type QuotaDraft = Omit<RateQuota, keyof QuotaPlace> & {
  /** Path from the root namespace of a namespace, a mount or what is below a mount; "" for everything. */
  readonly path: string;
};

/** A quota, and the path that it has now. */
export interface PlacedQuota extends RateQuota {
  readonly path: string;
}

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

/** @throws KeelsonError `request.invalid` for a path that nothing has, or that another quota has */
export const putQuota = ({ store }: QuotaContext, { path, ...draft }: QuotaDraft): Promise<void> =>
  store.transact(async (tx) => {
    const place = placeOf(path, await loadNamespaceTable(tx), await loadMountIndex(tx));
    if (draft.isInheritable && place.mountUuid !== undefined)
      refuse(
        'inheritable must be false for the path of a mount: only namespaces have others below them',
      );
    const quotas = await listQuotas(tx);
    const others = quotas.filter(({ name }) => name !== draft.name);
    const rival = others.find((quota) => samePlace(quota, place));
    if (rival !== undefined) refuse(`the path has the quota "${rival.name}" already`);
    if (others.length >= MAX_QUOTAS) refuse(`there are at most ${MAX_QUOTAS} quotas`);
    await deleteQuotaNamed(tx, draft.name);
    const isOfEverything = place.mountUuid === undefined && place.namespaceId === ROOT_NAMESPACE_ID;
    const isInheritable = draft.isInheritable || isOfEverything;
    writeQuota(tx, { ...draft, ...place, isInheritable });
  });

/** Succeeds when there is none. */
export const deleteQuota = ({ store }: QuotaContext, name: string): Promise<void> =>
  store.transact((tx) => deleteQuotaNamed(tx, name));

export const findQuota = async (
  { store, mounts, namespaces }: QuotaContext,
  name: string,
): Promise<PlacedQuota | undefined> => {
  const quota = (await listQuotas(store)).find((one) => one.name === name);
  if (quota === undefined) return undefined;
  const namespace = (await namespaces()).findById(quota.namespaceId);
  const mount =
    quota.mountUuid === undefined ? undefined : (await mounts()).findByUuid(quota.mountUuid);
  const path = `${namespace?.path ?? ''}${mount ? mountPathOf(mount) : ''}${quota.below}`;
  return { ...quota, path };
};

/** Sorted. */
export const listQuotaNames = async ({ store }: QuotaContext): Promise<readonly string[]> =>
  (await listQuotas(store)).map(({ name }) => name).sort();

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

/** Part of the transaction that disables a mount. */
export const deleteQuotasOfMount = async (
  tx: Transaction,
  { uuid }: MountRecord,
): Promise<void> => {
  for (const quota of await listQuotas(tx))
    if (quota.mountUuid === uuid) deleteQuotaRecord(tx, quota);
};

/** Part of the transaction that moves a mount: its quotas follow it, into another namespace too. */
export const moveQuotasOfMount = async (tx: Transaction, after: MountRecord): Promise<void> => {
  for (const quota of await listQuotas(tx)) {
    if (quota.mountUuid !== after.uuid || quota.namespaceId === after.namespaceId) continue;
    deleteQuotaRecord(tx, quota);
    writeQuota(tx, { ...quota, namespaceId: after.namespaceId });
  }
};
