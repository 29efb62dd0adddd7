import type { JsonObject } from '@keelson/secrets-api';
import type { CrlConfig } from './domain/crl-config.ts';

export const crlConfigDocument = (config: CrlConfig): JsonObject => ({
  expiry: config.expiry,
  disable: config.disable,
  ocsp_disable: config.ocspDisable,
  ocsp_expiry: config.ocspExpiry,
  auto_rebuild: config.autoRebuild,
  auto_rebuild_grace_period: config.autoRebuildGracePeriod,
  enable_delta: config.enableDelta,
  delta_rebuild_interval: config.deltaRebuildInterval,
  max_crl_entries: config.maxCrlEntries,
  allow_expired_cert_revocation: config.allowExpiredCertRevocation,
  cross_cluster_revocation: config.crossClusterRevocation,
  unified_crl: config.unifiedCrl,
  unified_crl_on_existing_paths: config.unifiedCrlOnExistingPaths,
});
