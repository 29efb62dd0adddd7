/**
 * Challenges prove themselves: whoever begins stores nothing, and any replica with the key can finish. Each is for one
 * purpose of one person, ends after minutes, and is accepted once, because the service remembers those that were used.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { PasskeyRefusal } from './refusal.ts';

export const CHALLENGE_LASTS_MS = 5 * 60_000;

const NONCE_BYTES = 16;
const TIME_BYTES = 6;
const CONTENT_BYTES = NONCE_BYTES + TIME_BYTES;
const KEY_BYTES = 32;
/** More than a person uses before the first is forgotten. */
const MAX_USED = 100;

/** The only use of a challenge; nothing else accepts it. */
export interface ChallengePlace {
  readonly purpose: 'register' | 'sign-in';
  /** The person, and whatever else the service binds the challenge to; "" for anybody. */
  readonly subject: string;
}

export const usedChallengeShape = Type.Object({
  digest: Type.String(),
  expiresAtMs: Type.Number(),
});
export type UsedChallenge = Shaped<typeof usedChallengeShape>;

/** A random key for the challenges of a service, in base64. */
export const newChallengeKey = (): string => randomBytes(KEY_BYTES).toString('base64');

const macOf = (key: string, { purpose, subject }: ChallengePlace, content: Uint8Array): Buffer =>
  createHmac('sha256', Buffer.from(key, 'base64'))
    .update(JSON.stringify([purpose, subject]))
    .update(content)
    .digest();

/** In base64url. */
export const newChallenge = (key: string, place: ChallengePlace, nowMs: number): string => {
  const content = Buffer.concat([randomBytes(NONCE_BYTES), Buffer.alloc(TIME_BYTES)]);
  content.writeUIntBE(nowMs + CHALLENGE_LASTS_MS, NONCE_BYTES, TIME_BYTES);
  return Buffer.concat([content, macOf(key, place, content)]).toString('base64url');
};

/** Undefined for a challenge that has expired, or is not of this place. */
export const openChallenge = (
  key: string,
  place: ChallengePlace,
  challenge: string,
  nowMs: number,
): UsedChallenge | undefined => {
  const bytes = Buffer.from(challenge, 'base64url');
  const content = bytes.subarray(0, CONTENT_BYTES);
  const mac = bytes.subarray(CONTENT_BYTES);
  if (content.length < CONTENT_BYTES) return undefined;
  const expected = macOf(key, place, content);
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) return undefined;
  const expiresAtMs = content.readUIntBE(NONCE_BYTES, TIME_BYTES);
  // The digest is of the content, which is the same in every spelling of the text.
  const digest = createHash('sha256').update(content).digest('base64url');
  return nowMs < expiresAtMs ? { digest, expiresAtMs } : undefined;
};

/**
 * The used challenges of a person with one more, and without those that have expired anyway.
 * @throws PasskeyRefusal if the challenge was used already
 */
export const withUsed = (
  used: readonly UsedChallenge[],
  challenge: UsedChallenge,
  nowMs: number,
): UsedChallenge[] => {
  const recent = used.filter(({ expiresAtMs }) => nowMs < expiresAtMs);
  if (recent.some(({ digest }) => digest === challenge.digest))
    throw new PasskeyRefusal(
      'used',
      'response.clientDataJSON',
      'the challenge has been used already: begin again',
    );
  if (recent.length >= MAX_USED)
    throw new PasskeyRefusal(
      'used',
      'response.clientDataJSON',
      'too many challenges have been used in the last minutes: try again later',
    );
  return [...recent, challenge];
};
