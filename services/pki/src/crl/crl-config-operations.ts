import { randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import { crlConfigRecords, loadSettings, SETTING } from '../issuers/issuer-records.ts';
import type { MountScope } from '../mounts/mount-records.ts';
import type { CrlBuilder } from './crl-builder.ts';
import { type CrlConfig, changesLists } from './domain/crl-config.ts';

/** Changes how lists are made, and makes them anew where the change shows in them. */
export const updateCrlConfig = async (
  store: Store,
  crlBuilder: CrlBuilder,
  mount: MountScope,
  change: (before: CrlConfig) => CrlConfig,
): Promise<{ readonly config: CrlConfig; readonly warnings: readonly string[] }> => {
  const { before, config } = await store.transact(async (tx) => {
    const existing = (await loadSettings(tx, mount)).crl;
    const changed = change(existing);
    if (mount.local && (changed.unifiedCrl || changed.crossClusterRevocation))
      throw new KeelsonError('request.invalid', {
        text: 'unified_crl and cross_cluster_revocation cannot be enabled on a local mount',
      });
    const isUnified = !existing.unifiedCrl && changed.unifiedCrl;
    const unification = isUnified ? randomUUID() : existing.unification;
    crlConfigRecords(mount).write(tx, SETTING.crl, { ...changed, unification });
    return { before: existing, config: changed };
  });
  const warnings = changesLists(before, config) ? await crlBuilder.rebuild(mount) : [];
  return { config, warnings };
};
