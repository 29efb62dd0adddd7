/**
 * Named keys. Each has a key that signs and the next one, which is published before it signs. A key that has signed is
 * published for as long as its tokens are to be verified; its private part is gone.
 */
import { KeelsonError } from '@keelson/errors';
import { isSigningAlgorithm, SIGNING_ALGORITHMS } from '@keelson/openid/algorithms';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

const algorithmShape = Type.Enum([...SIGNING_ALGORITHMS]);

const signerShape = Type.Object({
  kid: Type.String(),
  /** PKCS #8, PEM. */
  privateKey: Type.String(),
  algorithm: algorithmShape,
});
export type Signer = Shaped<typeof signerShape>;

const retiredShape = Type.Object({
  kid: Type.String(),
  /** SPKI, PEM. */
  publicKey: Type.String(),
  algorithm: algorithmShape,
  expiresAtMs: Type.Number(),
});
export type RetiredKey = Shaped<typeof retiredShape>;

const keyRingShape = Type.Object({
  signer: signerShape,
  next: signerShape,
  /** Oldest first. */
  retired: Type.Array(retiredShape),
  nextRotationMs: Type.Number(),
});
export type KeyRing = Shaped<typeof keyRingShape>;

export const namedKeyShape = Type.Object({
  algorithm: algorithmShape,
  rotationSeconds: Type.Number(),
  verificationSeconds: Type.Number(),
  /** Ids of the clients and roles that may use it; "*" stands for all. */
  allowedClientIds: Type.Array(Type.String()),
  /** Absent in the built-in key until something uses it. */
  ring: Type.Optional(keyRingShape),
});
export type NamedKey = Shaped<typeof namedKeyShape>;

export const DEFAULT_KEY = 'default';
const DAY_SECONDS = 86_400;

/** The built-in key, until it is written. */
export const BUILT_IN_KEY: NamedKey = {
  algorithm: 'RS256',
  rotationSeconds: DAY_SECONDS,
  verificationSeconds: DAY_SECONDS,
  allowedClientIds: ['*'],
};

/** Undefined values remain unchanged, or are the default of a new key. */
export interface KeyChanges {
  readonly algorithm: string | undefined;
  readonly rotation_period: number | undefined;
  readonly verification_ttl: number | undefined;
  readonly allowed_client_ids: readonly string[] | undefined;
}

const MIN_ROTATION_SECONDS = 60;
const MAX_SECONDS = 10 * 365 * DAY_SECONDS;
const MAX_RETIRED = 50;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** @throws KeelsonError `request.invalid` naming the parameter that is refused */
export const changedKey = (before: NamedKey | undefined, changes: KeyChanges): NamedKey => {
  const { algorithm, rotation_period, verification_ttl, allowed_client_ids } = changes;
  const base = before ?? { ...BUILT_IN_KEY, allowedClientIds: [] };
  const rotationSeconds = rotation_period ?? base.rotationSeconds;
  const verificationSeconds = verification_ttl ?? base.verificationSeconds;
  if (rotationSeconds < MIN_ROTATION_SECONDS) refuse('rotation_period must be at least one minute');
  if (rotationSeconds > MAX_SECONDS) refuse('rotation_period has at most ten years');
  if (verificationSeconds < 0) refuse('verification_ttl cannot be negative');
  if (verificationSeconds > 10 * rotationSeconds)
    refuse('verification_ttl cannot be longer than 10x rotation_period');
  if (algorithm !== undefined && !isSigningAlgorithm(algorithm))
    return refuse(`unknown signing algorithm "${algorithm}"`);
  return {
    ...base,
    algorithm: algorithm ?? base.algorithm,
    rotationSeconds,
    verificationSeconds,
    allowedClientIds:
      allowed_client_ids === undefined ? base.allowedClientIds : [...new Set(allowed_client_ids)],
  };
};

/** The ring of a key after a change of its settings. @param made a key of the algorithm that the settings now name */
export const changedRing = (
  { ring, algorithm, rotationSeconds }: NamedKey,
  made: readonly [Signer, Signer],
  nowMs: number,
): KeyRing => {
  const [signer, next] = made;
  const nextRotationMs = nowMs + rotationSeconds * 1000;
  if (ring === undefined) return { signer, next, retired: [], nextRotationMs };
  return {
    ...ring,
    // Another algorithm signs after the next rotation, when others know the key.
    next: ring.next.algorithm === algorithm ? ring.next : next,
    nextRotationMs: Math.min(ring.nextRotationMs, nextRotationMs),
  };
};

const unexpired = (retired: readonly RetiredKey[], nowMs: number): readonly RetiredKey[] =>
  retired.filter(({ expiresAtMs }) => expiresAtMs > nowMs);

/**
 * The ring after a rotation.
 * @param parts.retiring the public part of the key that has signed so far
 * @param parts.next a new key
 */
export const rotatedRing = (
  { ring, rotationSeconds }: NamedKey & { readonly ring: KeyRing },
  parts: { readonly retiring: string; readonly next: Signer },
  verificationSeconds: number,
  nowMs: number,
): KeyRing => {
  const { kid, algorithm } = ring.signer;
  const expiresAtMs = nowMs + verificationSeconds * 1000;
  const retired = { kid, algorithm, publicKey: parts.retiring, expiresAtMs };
  return {
    signer: ring.next,
    next: parts.next,
    retired: [...unexpired(ring.retired, nowMs), ...unexpired([retired], nowMs)],
    nextRotationMs: nowMs + rotationSeconds * 1000,
  };
};

/** @throws KeelsonError `request.invalid` for one rotation too many while the keys of earlier ones are published */
export const requireRotatable = ({ retired }: KeyRing, nowMs: number): void => {
  if (unexpired(retired, nowMs).length >= MAX_RETIRED)
    refuse(`the key has been rotated ${MAX_RETIRED} times within its verification_ttl: wait`);
};

/** The keys with which tokens can be verified now, or will be. */
export const publishedKeys = (
  { ring }: NamedKey,
  nowMs: number,
): readonly (Signer | RetiredKey)[] =>
  ring === undefined ? [] : [...unexpired(ring.retired, nowMs), ring.signer, ring.next];

/** When a rotation or the end of a retired key is due. */
export const dueMsOf = ({ ring }: NamedKey): number =>
  ring === undefined
    ? Number.POSITIVE_INFINITY
    : Math.min(ring.nextRotationMs, ...ring.retired.map(({ expiresAtMs }) => expiresAtMs));

/** The ring without the keys of which no token is left. */
export const withoutExpired = (ring: KeyRing, nowMs: number): KeyRing => ({
  ...ring,
  retired: [...unexpired(ring.retired, nowMs)],
});

/** Whether tokens for a client or role may be signed with the key. */
export const maySignFor = ({ allowedClientIds }: NamedKey, clientId: string): boolean =>
  allowedClientIds.includes('*') || allowedClientIds.includes(clientId);
