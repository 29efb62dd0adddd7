/**
 * The challenge types available for each kind of identifier (RFC 8555 §8, RFC 8737, RFC 8738 §4).
 */

import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import type { Identifier } from './identifier.ts';

export const CHALLENGE_TYPES = ['http-01', 'dns-01', 'tls-alpn-01', 'dns-account-01'] as const;
export const challengeTypeShape = Type.Enum(CHALLENGE_TYPES);
export type ChallengeType = Shaped<typeof challengeTypeShape>;

/** Challenges that the service may offer beyond the specification. */
export interface ExtraChallenges {
  readonly dnsAccount01: boolean;
  /** RFC 8738 §4. */
  readonly tlsAlpn01ForAddresses: boolean;
}

/** RFC 8555 §7.1.3, §8.4: wildcards are proven only by DNS, addresses never by DNS. */
export const challengeTypesFor = (
  { type }: Identifier,
  wildcard: boolean,
  { dnsAccount01, tlsAlpn01ForAddresses }: ExtraChallenges,
): readonly ChallengeType[] => {
  if (type === 'ip') return tlsAlpn01ForAddresses ? ['http-01', 'tls-alpn-01'] : ['http-01'];
  const ofNames: readonly ChallengeType[] = wildcard
    ? ['dns-01']
    : ['http-01', 'dns-01', 'tls-alpn-01'];
  return dnsAccount01 ? [...ofNames, 'dns-account-01'] : ofNames;
};
