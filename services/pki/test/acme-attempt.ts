/** An attempt at a challenge and the settings of validation, as tests need them. */
import {
  type ChallengeAttempt,
  type ValidationSettings,
} from '../src/acme/validation/challenge-attempt.ts';

export const KEY_AUTHORIZATION =
  'evaGxfADs6pSRb2LAv9IZ.9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI';

export const anAttempt = (changes: Partial<ChallengeAttempt> = {}): ChallengeAttempt => ({
  type: 'http-01',
  identifier: { type: 'dns', value: 'shop.example.com' },
  wildcard: false,
  token: 'evaGxfADs6pSRb2LAv9IZ',
  keyAuthorization: KEY_AUTHORIZATION,
  accountUrl: 'https://example.com/acme/acct/ExampleAccount',
  ...changes,
});

export const someSettings = (changes: Partial<ValidationSettings> = {}): ValidationSettings => ({
  dnsResolver: '',
  ports: { http: 80, tls: 443 },
  addressRanges: { permitted: [], excluded: [] },
  timeoutsMs: { connect: 20_000, attempt: 60_000 },
  ...changes,
});
