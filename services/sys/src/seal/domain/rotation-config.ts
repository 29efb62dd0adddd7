/** Configuration of the automatic rotation of the barrier key. */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const rotationConfigShape = Type.Object({
  enabled: Type.Boolean(),
  maxOperations: Type.Number(),
  /** 0 means no rotation by time. */
  intervalSeconds: Type.Number(),
});
export type RotationConfig = Shaped<typeof rotationConfigShape>;

/** Ten percent below 2^32 encryptions with random nonces, the bound of NIST SP 800-38D. */
const MAX_OPERATIONS = 3_865_470_566;
const MIN_OPERATIONS = 1_000_000;
const MIN_INTERVAL_SECONDS = 24 * 3600;

export const DEFAULT_ROTATION: RotationConfig = {
  enabled: true,
  maxOperations: MAX_OPERATIONS,
  intervalSeconds: 0,
};

/** @throws KeelsonError `request.invalid` */
export const requireRotationConfig = (config: RotationConfig): RotationConfig => {
  const refuse = (text: string): never => {
    throw new KeelsonError('request.invalid', { text });
  };
  if (config.maxOperations < MIN_OPERATIONS || config.maxOperations > MAX_OPERATIONS) {
    refuse(`max_operations must be in the range [${MIN_OPERATIONS},${MAX_OPERATIONS}]`);
  }
  if (config.intervalSeconds !== 0 && config.intervalSeconds < MIN_INTERVAL_SECONDS) {
    refuse('interval must be greater or equal to 24h0m0s');
  }
  return config;
};

export const isRotationDue = (
  config: RotationConfig,
  key: { readonly encryptions: number; readonly installedAtMs: number },
  nowMs: number,
): boolean =>
  config.enabled &&
  (key.encryptions >= config.maxOperations ||
    (config.intervalSeconds > 0 && nowMs - key.installedAtMs >= config.intervalSeconds * 1000));
