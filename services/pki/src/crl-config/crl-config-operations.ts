import { randomUUID } from 'node:crypto';
import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import { settingsBefore } from '../mounts/damaged-settings.ts';
import { loadCrlConfig, writeCrlConfig } from './crl-config-records.ts';
import { type CrlConfig, changesLists, DEFAULT_CRL_CONFIG } from './domain/crl-config.ts';
import type { ListRebuilding } from './list-rebuilding.ts';

/** Changes how lists are made, and rebuilds them where the change affects their content. */
export const updateCrlConfig = async (
  store: Store,
  crlBuilder: ListRebuilding,
  mount: MountScope,
  change: (before: CrlConfig) => CrlConfig,
): Promise<{ readonly config: CrlConfig; readonly warnings: readonly string[] }> => {
  const { before, config, replaced } = await store.transact(async (tx) => {
    const { before: existing, warnings: replaced } = await settingsBefore(
      loadCrlConfig(tx, mount),
      DEFAULT_CRL_CONFIG,
    );
    const changed = change(existing);
    if (mount.local && (changed.unifiedCrl || changed.crossClusterRevocation))
      throw new KeelsonError('request.invalid', {
        text: 'unified_crl and cross_cluster_revocation cannot be enabled on a local mount',
      });
    const isUnified = !existing.unifiedCrl && changed.unifiedCrl;
    const unification = isUnified ? randomUUID() : existing.unification;
    writeCrlConfig(tx, mount, { ...changed, unification });
    return { before: existing, config: changed, replaced };
  });
  const isRebuilt = replaced.length > 0 || changesLists(before, config);
  const warnings = isRebuilt ? await crlBuilder.rebuild(mount) : [];
  return { config, warnings: [...replaced, ...warnings] };
};
