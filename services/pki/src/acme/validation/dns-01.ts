/** dns-01 (RFC 8555 §8.4): a TXT record below the name. */

import { createHash } from 'node:crypto';
import { type ChallengeAttempt, type ValidationSettings } from './challenge-attempt.ts';
import { lookUpTexts } from './name-lookup.ts';
import { ValidationFailure } from './validation-failure.ts';

/** Succeeds when one of the TXT records of `owner` is the digest of the key authorization. */
export const validateTextRecord = async (
  owner: string,
  { keyAuthorization }: ChallengeAttempt,
  settings: ValidationSettings,
  signal: AbortSignal,
): Promise<void> => {
  const expected = createHash('sha256').update(keyAuthorization).digest('base64url');
  const texts = await lookUpTexts(owner, settings, signal);
  if (texts.length === 0) throw new ValidationFailure('dns', `${owner} has no TXT record`);
  if (!texts.includes(expected))
    throw new ValidationFailure(
      'incorrectResponse',
      `none of the ${texts.length} TXT records of ${owner} is "${expected}"`,
    );
};

export const validateDns01 = (
  attempt: ChallengeAttempt,
  settings: ValidationSettings,
  signal: AbortSignal,
): Promise<void> =>
  validateTextRecord(`_acme-challenge.${attempt.identifier.value}`, attempt, settings, signal);
