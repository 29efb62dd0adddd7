import { randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import type { MountScope } from '../mounts/mount-records.ts';
import { loadCrlConfig, writeCrlConfig } from './crl-config-records.ts';
import { type CrlConfig, changesLists } from './domain/crl-config.ts';
import type { ListRebuilding } from './list-rebuilding.ts';

/** Changes how lists are made, and rebuilds them where the change affects their content. */
export const updateCrlConfig = async (
  store: Store,
  crlBuilder: ListRebuilding,
  mount: MountScope,
  change: (before: CrlConfig) => CrlConfig,
): Promise<{ readonly config: CrlConfig; readonly warnings: readonly string[] }> => {
  const { before, config } = await store.transact(async (tx) => {
    const existing = await loadCrlConfig(tx, mount);
    const changed = change(existing);
    if (mount.local && (changed.unifiedCrl || changed.crossClusterRevocation))
      throw new KeelsonError('request.invalid', {
        text: 'unified_crl and cross_cluster_revocation cannot be enabled on a local mount',
      });
    const isUnified = !existing.unifiedCrl && changed.unifiedCrl;
    const unification = isUnified ? randomUUID() : existing.unification;
    writeCrlConfig(tx, mount, { ...changed, unification });
    return { before: existing, config: changed };
  });
  const warnings = changesLists(before, config) ? await crlBuilder.rebuild(mount) : [];
  return { config, warnings };
};
