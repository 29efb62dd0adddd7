/** Secret ids: what a client proves its role with. Only a digest of one is stored. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const secretIdShape = Type.Object({
  /** Hex. */
  digest: Type.String(),
  metadata: Type.Record(Type.String(), Type.String()),
  cidrs: Type.Array(Type.String()),
  tokenBoundCidrs: Type.Array(Type.String()),
  /** Logins that are left; 0 means no limit. */
  usesLeft: Type.Number(),
  /** As when it was made; 0 if it does not expire. */
  ttlSeconds: Type.Number(),
  createdAtMs: Type.Number(),
  updatedAtMs: Type.Number(),
  /** Undefined if it does not expire. */
  expiresAtMs: Type.Optional(Type.Number()),
});
export type SecretId = Shaped<typeof secretIdShape>;

/** @param roleUuid a key that only the store knows, so that a digest says nothing about a secret id that was chosen */
export const digestOf = (roleUuid: string, secretId: string): string =>
  createHmac('sha256', roleUuid).update(secretId).digest('hex');

/** The accessor of a secret id, a UUID in form. It follows from the digest, so that a record is found by either. */
export const accessorOf = (digest: string): string =>
  [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-');

export const isSameDigest = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));

export const hasExpired = ({ expiresAtMs }: SecretId, nowMs: number): boolean =>
  expiresAtMs !== undefined && expiresAtMs <= nowMs;

/** The secret id after one more login; undefined if that was the last. */
export const afterUse = (secretId: SecretId, nowMs: number): SecretId | undefined => {
  if (secretId.usesLeft === 0) return secretId;
  return secretId.usesLeft === 1
    ? undefined
    : { ...secretId, usesLeft: secretId.usesLeft - 1, updatedAtMs: nowMs };
};
