/**
 * Builds the revocation lists of a mount. One build of a mount runs at a time in the whole cluster, held
 * by a lease that fences the commits; requests that come while one runs share the next.
 */

import { type MountScope } from '@keelson/engine';
import type { HeldLease, LeaseStore } from '@keelson/locks';
import { readableOnly, takeFence } from '@keelson/storage';
import { pendingRecords } from '../../certificates/revocation-records.ts';
import { type AnnouncingParts, announceRevocations } from '../../clusters/announcing-operations.ts';
import type { ListRebuilding } from '../../crl-config/list-rebuilding.ts';
import type { Authorities } from '../../issuers/issuer-records.ts';
import { mountLeases } from '../../mounts/mount-records.ts';
import { crlGroups } from '../domain/crl-group.ts';
import { buildComplete, buildDelta, type CrlBuild } from './crl-build.ts';

export interface CrlBuilder extends ListRebuilding {
  /** New delta lists, with everything that was revoked before the call; returns warnings. */
  rebuildDeltas(mount: MountScope): Promise<readonly string[]>;
}

export interface CrlBuilderParts extends AnnouncingParts {
  readonly authorities: Authorities;
  readonly leases: LeaseStore;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
}

const LEASE_TTL_MS = 30_000;
/** A client waits for its lists, but not for the lock service to come back. */
const LEASE_WAIT_MS = 5_000;
const DELAYED =
  'the CRLs have not been rebuilt yet, because the lease for it is unavailable; they will be as soon as it is available';
const DELETE_STEP = 1000;

const buildAllComplete = async (build: CrlBuild): Promise<readonly string[]> => {
  const { store, mount, authority, scope } = build;
  const records = pendingRecords(mount, scope);
  // Revocations that are pending now are read later, with all others.
  const covered = new Set(await records.keys(store));
  const pending = async () =>
    (await records.entries(readableOnly(store))).filter(([serialKey]) => !covered.has(serialKey));
  const warnings: string[] = [];
  for (const group of crlGroups(authority))
    warnings.push(...(await buildComplete(build, group, pending)));
  const keys = [...covered];
  for (let at = 0; at < keys.length; at += DELETE_STEP)
    await store.transact((tx) => {
      for (const key of keys.slice(at, at + DELETE_STEP)) records.delete(tx, key);
    });
  return warnings;
};

const buildAllDeltas = async (build: CrlBuild): Promise<readonly string[]> => {
  const { store, mount, authority, scope } = build;
  if (!authority.settings.crl.enableDelta)
    return ['requested rebuild of delta CRL when delta CRL is not enabled; this is a no-op'];
  const pending = await pendingRecords(mount, scope).entries(readableOnly(store));
  const warnings: string[] = [];
  for (const group of crlGroups(authority))
    warnings.push(...(await buildDelta(build, group, pending)));
  return warnings;
};

const leaseOf = mountLeases('crl');

/** The lease of the mount; undefined if it cannot be acquired within `LEASE_WAIT_MS`. */
const acquireSoon = async (
  { leases, clock, stopping }: CrlBuilderParts,
  mount: MountScope,
): Promise<HeldLease | undefined> => {
  const late = new AbortController();
  const cancel = clock.after(LEASE_WAIT_MS, () => late.abort());
  try {
    return await leases.acquire(
      leaseOf(mount),
      { ttlMs: LEASE_TTL_MS },
      AbortSignal.any([stopping, late.signal]),
    );
  } catch (error) {
    if (late.signal.aborted && !stopping.aborted) return undefined;
    throw error;
  } finally {
    cancel();
  }
};

const underLease = async (
  parts: CrlBuilderParts,
  mount: MountScope,
  work: (build: CrlBuild) => Promise<readonly string[]>,
): Promise<readonly string[]> => {
  const { store, clock } = parts;
  const lease = await acquireSoon(parts, mount);
  // The caller's change is committed; the upkeep worker builds the lists when leases are available again.
  if (lease === undefined) return [DELAYED];
  try {
    const authority = await parts.authorities.of(mount);
    const fence = await takeFence(store, lease.name);
    const build = { store, clock, mount, fence, authority };
    const warnings = await work({ ...build, scope: 'own' });
    if (!authority.settings.crl.unifiedCrl) return warnings;
    await announceRevocations(parts, mount);
    // The primary builds the single list of all clusters.
    if (parts.cluster().isSecondary) return warnings;
    return [...new Set([...warnings, ...(await work({ ...build, scope: 'all' }))])];
  } finally {
    await lease.release();
  }
};

interface Runs {
  readonly running: Promise<readonly string[]>;
  next: Promise<readonly string[]> | undefined;
}

/** Runs of a kind, one at a time for each mount; callers that come during one share the next. */
const sharedRuns = (run: (mount: MountScope) => Promise<readonly string[]>) => {
  const runs = new Map<string, Runs>();
  const start = (mount: MountScope): Promise<readonly string[]> => {
    const running = run(mount).finally(() => {
      if (runs.get(mount.uuid)?.running === running) runs.delete(mount.uuid);
    });
    runs.set(mount.uuid, { running, next: undefined });
    return running;
  };
  return (mount: MountScope): Promise<readonly string[]> => {
    const current = runs.get(mount.uuid);
    if (current === undefined) return start(mount);
    // The running build may have passed the caller's revocation already; the next one cannot.
    current.next ??= current.running.then(
      () => start(mount),
      () => start(mount),
    );
    return current.next;
  };
};

export const createCrlBuilder = (parts: CrlBuilderParts): CrlBuilder => ({
  rebuild: sharedRuns((mount) => underLease(parts, mount, buildAllComplete)),
  rebuildDeltas: sharedRuns((mount) => underLease(parts, mount, buildAllDeltas)),
});
