/** How revocation lists are made (reference §5.3). Durations keep the text they were written with. */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const crlConfigShape = Type.Object({
  expiry: Type.String(),
  expirySeconds: Type.Number(),
  disable: Type.Boolean(),
  ocspDisable: Type.Boolean(),
  ocspExpiry: Type.String(),
  /** 0 if answers do not say when the next one comes. */
  ocspExpirySeconds: Type.Number(),
  autoRebuild: Type.Boolean(),
  autoRebuildGracePeriod: Type.String(),
  autoRebuildGraceSeconds: Type.Number(),
  enableDelta: Type.Boolean(),
  deltaRebuildInterval: Type.String(),
  deltaRebuildIntervalSeconds: Type.Number(),
  /** -1: no limit. */
  maxCrlEntries: Type.Number(),
  allowExpiredCertRevocation: Type.Boolean(),
  crossClusterRevocation: Type.Boolean(),
  unifiedCrl: Type.Boolean(),
  /** A new id each time that lists become unified: earlier revocations are then announced once. */
  unification: Type.Optional(Type.String()),
  unifiedCrlOnExistingPaths: Type.Boolean(),
});
export type CrlConfig = Shaped<typeof crlConfigShape>;

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

/** The validity of a list or of an OCSP answer. */
export interface UpdateTimes {
  readonly thisUpdateMs: number;
  readonly nextUpdateMs: number;
}

/** Clocks of replicas differ by less. */
const MAX_AHEAD_MS = 60_000;

/** Whether it was made while a clock was ahead: clients do not accept what is not valid yet. */
export const isFromFuture = (thisUpdateMs: number, nowMs: number): boolean =>
  thisUpdateMs > nowMs + MAX_AHEAD_MS;

/** Whether the worker rebuilds a list. */
export const isListDue = (
  config: CrlConfig,
  { thisUpdateMs, nextUpdateMs }: UpdateTimes,
  nowMs: number,
): boolean => {
  const { autoRebuild, autoRebuildGraceSeconds, expirySeconds } = config;
  const leftSeconds = autoRebuild ? autoRebuildGraceSeconds : expirySeconds * RENEWED_FRACTION;
  return isFromFuture(thisUpdateMs, nowMs) || nextUpdateMs - leftSeconds * 1000 <= nowMs;
};

/** Whether the worker rebuilds a delta list; the list is undefined before the first build. */
export const isDeltaDue = (
  { deltaRebuildIntervalSeconds }: CrlConfig,
  delta: Pick<UpdateTimes, 'thisUpdateMs'> | undefined,
  nowMs: number,
): boolean =>
  delta === undefined ||
  isFromFuture(delta.thisUpdateMs, nowMs) ||
  delta.thisUpdateMs + deltaRebuildIntervalSeconds * 1000 <= nowMs;

/** The worker looks for due lists every minute, and a build takes a while. */
const MIN_MARGIN_SECONDS = 300;

/**
 * Validity of a delta list: its interval, after which clients take the next one, and a margin in which that one
 * is made. Never longer than that of complete lists.
 */
export const deltaValiditySeconds = ({
  deltaRebuildIntervalSeconds: interval,
  expirySeconds,
}: CrlConfig): number =>
  Math.min(expirySeconds, interval + Math.max(MIN_MARGIN_SECONDS, interval * RENEWED_FRACTION));
