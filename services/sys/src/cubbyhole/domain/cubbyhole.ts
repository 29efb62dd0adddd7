/** The limits of a cubbyhole, and the paths in it. */
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** A secret as a client wrote it. */
export const secretShape = Type.Record(Type.String(), Type.Unknown());
export type Secret = Shaped<typeof secretShape>;

export const MAX_SECRETS = 1000;
const MAX_PATH_LENGTH = 512;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/**
 * The path without empty segments.
 * @throws KeelsonError `request.invalid` for a path that is too long
 */
export const requireSecretPath = (given: string): string => {
  const path = given
    .split('/')
    .filter((segment) => segment !== '')
    .join('/');
  if (path.length > MAX_PATH_LENGTH) refuse(`a path has at most ${MAX_PATH_LENGTH} characters`);
  return path;
};

/** @throws KeelsonError `request.invalid` for a secret without fields */
export const requireFields = (secret: Secret): void => {
  if (Object.keys(secret).length === 0) refuse('missing data fields');
};

/** @throws KeelsonError `request.invalid` when a cubbyhole with this many secrets takes no other */
export const requireRoomForSecret = (count: number): void => {
  if (count >= MAX_SECRETS) refuse(`a cubbyhole holds at most ${MAX_SECRETS} secrets`);
};
