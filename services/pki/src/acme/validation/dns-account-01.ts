/**
 * dns-account-01 (draft-ietf-acme-dns-account-label): like dns-01, below a label specific to the
 * account, so that several accounts can prove the same name at the same time.
 */

import { createHash } from 'node:crypto';
import { type ChallengeAttempt, type ValidationSettings } from './challenge-attempt.ts';
import { validateTextRecord } from './dns-01.ts';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const DIGEST_OCTETS = 10;

/**
 * "_" and the first 10 octets of the SHA-256 hash of the account's URL, in lower-case base32 (RFC
 * 4648 §6).
 */
export const accountLabel = (accountUrl: string): string => {
  const digest = createHash('sha256').update(accountUrl).digest().subarray(0, DIGEST_OCTETS);
  const bits = [...digest].map((octet) => octet.toString(2).padStart(8, '0')).join('');
  const letters = bits.match(/.{5}/g) ?? [];
  return `_${letters.map((five) => BASE32[Number.parseInt(five, 2)]).join('')}`;
};

export const validateDnsAccount01 = (
  attempt: ChallengeAttempt,
  settings: ValidationSettings,
  signal: AbortSignal,
): Promise<void> => {
  const owner = `${accountLabel(attempt.accountUrl)}._acme-challenge.${attempt.identifier.value}`;
  return validateTextRecord(owner, attempt, settings, signal);
};
