import type { AddressRanges } from '@keelson/outbound/addresses';
import type { ChallengeType } from '../orders/domain/challenge-types.ts';

export interface ChallengeAttempt {
  readonly type: ChallengeType;
  /**
   * As in the authorization: lower-case ASCII without "*.", or an IP address in the form of RFC
   * 5952.
   */
  readonly identifier: { readonly type: 'dns' | 'ip'; readonly value: string };
  /** Whether the order requests "*." followed by the name. */
  readonly wildcard: boolean;
  readonly token: string;
  /** Token, a dot, and the thumbprint of the account's key (RFC 8555 §8.1). */
  readonly keyAuthorization: string;
  /** URL known to the client. Only dns-account-01 uses it, for its label. */
  readonly accountUrl: string;
}

/** Plain data, sent between threads. */
export interface ValidationSettings {
  /** "address:port" of the DNS server to query; empty for the system's resolver. */
  readonly dnsResolver: string;
  /** Ports of http-01 (80) and tls-alpn-01 (443); redirects may lead to both. */
  readonly ports: { readonly http: number; readonly tls: number };
  readonly addressRanges: AddressRanges;
  /** Time limits of one connection and of the whole attempt. */
  readonly timeoutsMs: { readonly connect: number; readonly attempt: number };
}
