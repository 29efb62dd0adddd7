import { KeelsonError } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import { TOLD, toldRecords } from '../clusters/cluster-records.ts';
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
    crlConfigRecords(mount).write(tx, SETTING.crl, changed);
    // What is revoked while nobody is told is told when somebody is again.
    if (existing.unifiedCrl && !changed.unifiedCrl) toldRecords(mount).delete(tx, TOLD);
    return { before: existing, config: changed };
  });
  const warnings = changesLists(before, config) ? await crlBuilder.rebuild(mount) : [];
  return { config, warnings };
};
