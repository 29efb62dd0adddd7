/** How revocation lists are made (reference §5.3). Durations keep the text they were written with. */
import { KeelsonError } from '@keelson/errors';

export interface CrlConfig {
  readonly expiry: string;
  readonly expirySeconds: number;
  readonly disable: boolean;
  readonly ocspDisable: boolean;
  readonly ocspExpiry: string;
  /** 0: answers do not say when the next one comes. */
  readonly ocspExpirySeconds: number;
  readonly autoRebuild: boolean;
  readonly autoRebuildGracePeriod: string;
  readonly autoRebuildGraceSeconds: number;
  readonly enableDelta: boolean;
  readonly deltaRebuildInterval: string;
  readonly deltaRebuildIntervalSeconds: number;
  /** -1: no limit. */
  readonly maxCrlEntries: number;
  readonly allowExpiredCertRevocation: boolean;
  readonly crossClusterRevocation: boolean;
  readonly unifiedCrl: boolean;
  /** A new id each time that lists become unified: earlier revocations are then announced once. */
  readonly unification?: string | undefined;
  readonly unifiedCrlOnExistingPaths: boolean;
}

export const DEFAULT_CRL_CONFIG: CrlConfig = {
  expiry: '72h',
  expirySeconds: 72 * 3600,
  disable: false,
  ocspDisable: false,
  ocspExpiry: '12h',
  ocspExpirySeconds: 12 * 3600,
  autoRebuild: false,
  autoRebuildGracePeriod: '12h',
  autoRebuildGraceSeconds: 12 * 3600,
  enableDelta: false,
  deltaRebuildInterval: '15m',
  deltaRebuildIntervalSeconds: 15 * 60,
  maxCrlEntries: 100_000,
  allowExpiredCertRevocation: false,
  crossClusterRevocation: false,
  unifiedCrl: false,
  unifiedCrlOnExistingPaths: false,
};

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** @throws KeelsonError `request.invalid` when the settings contradict each other */
export const checkCrlConfig = (config: CrlConfig): CrlConfig => {
  if (config.expirySeconds <= 0) refuse('given expiry must be greater than zero');
  if (config.maxCrlEntries < -1) refuse('max_crl_entries must be -1 or more');
  if (config.autoRebuild && config.autoRebuildGraceSeconds >= config.expirySeconds)
    refuse(
      `CRL auto-rebuilding grace period (${config.autoRebuildGracePeriod}) must be strictly shorter than CRL expiry (${config.expiry}) value when auto-rebuilding of CRLs is enabled`,
    );
  if (config.enableDelta && !config.autoRebuild)
    refuse(
      'Delta CRLs cannot be enabled when auto rebuilding is disabled as the complete CRL is always regenerated!',
    );
  if (config.enableDelta && config.deltaRebuildIntervalSeconds >= config.expirySeconds)
    refuse(
      `CRL delta rebuild window (${config.deltaRebuildInterval}) must be strictly shorter than CRL expiry (${config.expiry}) value when delta CRLs are enabled`,
    );
  if (config.unifiedCrlOnExistingPaths && !config.unifiedCrl)
    refuse('unified_crl_on_existing_paths cannot be enabled if unified_crl is disabled');
  return config;
};

/** True if the change affects the content of the lists. */
export const changesLists = (before: CrlConfig, after: CrlConfig): boolean =>
  before.disable !== after.disable ||
  (before.autoRebuild && !after.autoRebuild) ||
  before.enableDelta !== after.enableDelta ||
  (!before.unifiedCrl && after.unifiedCrl);

/** The worker renews a list when this part of its validity is left. */
const RENEWED_FRACTION = 0.1;

/** Time at which the worker rebuilds a list. */
export const rebuildDueAtMs = (config: CrlConfig, nextUpdateMs: number): number =>
  nextUpdateMs -
  1000 *
    (config.autoRebuild ? config.autoRebuildGraceSeconds : config.expirySeconds * RENEWED_FRACTION);

/** Time at which the worker rebuilds a delta list. */
export const deltaDueAtMs = (config: CrlConfig, thisUpdateMs: number): number =>
  thisUpdateMs + config.deltaRebuildIntervalSeconds * 1000;
