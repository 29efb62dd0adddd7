/** Reads the decisions of sys. */
import { type ErrorCode, type ErrorParams, KeelsonError } from '@keelson/errors';
import type { Allowed, Resolution } from '@keelson/proto/sys/v1/access';

/** @throws KeelsonError of sys, with its code and parameters, where the outcome is a refusal */
export const requireNotRefused = ({ outcome }: Resolution): void => {
  if (outcome?.$case !== 'refused') return;
  const { code, detailsJson } = outcome.value;
  throw new KeelsonError(
    code as ErrorCode,
    detailsJson === '' ? {} : (JSON.parse(detailsJson) as ErrorParams),
  );
};

/** @throws KeelsonError of sys where the outcome is anything but permission */
export const requireAllowed = (resolution: Resolution): Allowed => {
  requireNotRefused(resolution);
  if (resolution.outcome?.$case === 'allowed') return resolution.outcome.value;
  throw new KeelsonError('internal');
};
