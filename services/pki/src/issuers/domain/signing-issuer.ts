import type { KeyObject } from 'node:crypto';
import type { AuthorityUrls } from '../../authority-urls/domain/authority-urls.ts';
import { type LeafNotAfterBehavior } from '../../validity/domain/lifetime.ts';
import type { ChainRules } from './chain-check.ts';

/**
 * The part of an issuer that making a certificate needs: data and a key, so that it can be sent to another
 * thread. A KeyObject that is sent is the same key, not a copy of its bytes.
 */
export interface SigningIssuer {
  readonly privateKey: KeyObject;
  /** Name, DER. */
  readonly name: Uint8Array;
  readonly keyIdentifier: Uint8Array;
  /** Undefined means no limit. */
  readonly pathLength: number | undefined;
  readonly notAfterMs: number;
  readonly leafNotAfterBehavior: LeafNotAfterBehavior;
  readonly urls: AuthorityUrls;
  readonly chainRules: ChainRules;
}
