import type { AddressRanges } from '@keelson/outbound/addresses';
import type { ChallengeType } from '../orders/domain/challenge-types.ts';

export interface ChallengeAttempt {
  readonly type: ChallengeType;
  /** As in the authorization: lower-case ASCII without "*.", or an IP address as RFC 5952 writes it. */
  readonly identifier: { readonly type: 'dns' | 'ip'; readonly value: string };
  /** The order asked for "*." and the name. */
  readonly wildcard: boolean;
  readonly token: string;
  /** Token, dot, thumbprint of the account's key (RFC 8555 §8.1). */
  readonly keyAuthorization: string;
  /** As the client knows it: dns-account-01 hashes it, the others ignore it. */
  readonly accountUrl: string;
}

/** Plain data, sent between threads. */
export interface ValidationSettings {
  /** "address:port" of the DNS server that is asked; empty for those of the system. */
  readonly dnsResolver: string;
  /** Where http-01 (80) and tls-alpn-01 (443) connect to; redirects may go to both. */
  readonly ports: { readonly http: number; readonly tls: number };
  readonly addressRanges: AddressRanges;
  /** Limits of one connection, and of the whole attempt. */
  readonly timeoutsMs: { readonly connect: number; readonly attempt: number };
}
