/** Turns the access decisions of sys into results or errors. */
import { type ErrorCode, type ErrorParams, KeelsonError } from '@keelson/errors';
import type { Allowed, Resolution } from '@keelson/proto/sys/v1/access';

/** @throws the KeelsonError of sys, with its code and parameters, when the outcome is a refusal */
export const requireNotRefused = ({ outcome }: Resolution): void => {
  if (outcome?.$case !== 'refused') return;
  const { code, detailsJson } = outcome.value;
  throw new KeelsonError(
    code as ErrorCode,
    detailsJson === '' ? {} : (JSON.parse(detailsJson) as ErrorParams),
  );
};

/** @throws the KeelsonError of sys when the outcome is anything but permission */
export const requireAllowed = (resolution: Resolution): Allowed => {
  requireNotRefused(resolution);
  if (resolution.outcome?.$case === 'allowed') return resolution.outcome.value;
  throw new KeelsonError('internal');
};
