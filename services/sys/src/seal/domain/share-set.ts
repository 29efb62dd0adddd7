/**
 * The shares that a key was split into, known by their SHA-256 fingerprints. A share has 32 random bytes, so
 * that its fingerprint does not help to guess it. A store made before fingerprints existed learns those of the
 * shares that carried out a ceremony.
 */

import { createHash } from 'node:crypto';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { shareCountsShape } from './share-counts.ts';

export const shareSetShape = Type.Object({
  ...shareCountsShape.properties,
  /** Base64; fewer than `shares`, or undefined, while some are not known yet. */
  fingerprints: Type.Optional(Type.Array(Type.String())),
});
export type ShareSet = Shaped<typeof shareSetShape>;

export const fingerprintOf = (share: Uint8Array): string =>
  createHash('sha256').update(share).digest('base64');

export const fingerprintsOf = (shares: readonly Uint8Array[]): string[] =>
  shares.map(fingerprintOf);

/** `unknown`: the set has shares without a known fingerprint, and this may be one of them. */
export const judgeShare = (
  { shares, fingerprints = [] }: ShareSet,
  share: Uint8Array,
): 'ours' | 'unknown' | 'foreign' => {
  if (fingerprints.includes(fingerprintOf(share))) return 'ours';
  return fingerprints.length < shares ? 'unknown' : 'foreign';
};

/** The fingerprints of the set once `proven` have yielded its key. */
export const learnedFingerprints = (
  { fingerprints = [] }: ShareSet,
  proven: readonly Uint8Array[],
): string[] => [...new Set([...fingerprints, ...fingerprintsOf(proven)])];
