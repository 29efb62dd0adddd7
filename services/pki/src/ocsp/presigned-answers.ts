/**
 * OCSP answers signed before, for requests without a nonce (RFC 6960 §2.5). An answer is valid until half of
 * its validity period is over, and while nothing it was made from has changed: issuers and settings of the
 * mount, whether the mount may have unstored certificates, and the records of the certificate itself.
 */

import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import type { Store } from '@keelson/storage';
import { LRUCache } from 'lru-cache';
import { certificatesPrefix } from '../certificates/certificate-records.ts';
import { revocationRecords } from '../certificates/revocation-records.ts';
import { clusterRevocationsOf } from '../clusters/cluster-records.ts';
import { isFromFuture } from '../crl-config/domain/crl-config.ts';
import type { Authority } from '../issuers/domain/authority.ts';
import type { Authorities } from '../issuers/issuer-records.ts';

export interface OcspParts {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly clock: Clock;
  /** Whether the mount may have issued certificates that it did not store, as of now. */
  readonly mayHaveUnstored: (mount: MountScope) => Promise<boolean>;
}

/** A signed answer and its validity. */
export interface OcspAnswer {
  readonly der: Uint8Array;
  readonly thisUpdateMs: number;
  /** Undefined if the answer has no nextUpdate. */
  readonly nextUpdateMs: number | undefined;
  /** Whether it is the answer to every request for this certificate, and not to one nonce. */
  readonly isForAll: boolean;
}

export interface PresignedAnswer {
  readonly answer: OcspAnswer;
  readonly mount: MountScope;
  readonly serialKey: string;
  readonly authority: Authority;
  readonly hasUnstored: boolean;
  readonly signAgainAtMs: number;
  /** Position of the store up to which nothing that the answer was made from has changed. */
  position: number;
}

/** Roughly 700 bytes each. */
const MAX_ANSWERS = 100_000;

/** Records whose change may change the status of a certificate. */
const statusPaths = ({ mount, serialKey }: PresignedAnswer): readonly string[] => [
  certificatesPrefix(mount) + serialKey,
  revocationRecords(mount).path(serialKey),
  clusterRevocationsOf(mount, serialKey),
];

export class PresignedAnswers {
  readonly #parts: OcspParts;
  readonly #answers = new LRUCache<string, PresignedAnswer>({ max: MAX_ANSWERS });

  constructor(parts: OcspParts) {
    this.#parts = parts;
  }

  /** The answer to a request, if there is one that is still valid. */
  async find(key: string): Promise<OcspAnswer | undefined> {
    const known = this.#answers.get(key);
    return known && (await this.#isStillValid(known)) ? known.answer : undefined;
  }

  put(key: string, answer: PresignedAnswer): void {
    this.#answers.set(key, answer);
  }

  /** Answers refer to the authority, and so to its keys. */
  clear(): void {
    this.#answers.clear();
  }

  async #isStillValid(answer: PresignedAnswer): Promise<boolean> {
    const { store, authorities, clock, mayHaveUnstored } = this.#parts;
    const nowMs = clock.nowMs();
    if (nowMs >= answer.signAgainAtMs || isFromFuture(answer.answer.thisUpdateMs, nowMs))
      return false;
    const position = await store.position();
    // Usually nothing at all was committed since the last request.
    if (position === answer.position) return true;
    const { mount } = answer;
    const isUnchanged =
      (await authorities.of(mount)) === answer.authority &&
      (await mayHaveUnstored(mount)) === answer.hasUnstored &&
      !store.hasChangedSince(statusPaths(answer), answer.position);
    // A concurrent check may have seen a later position.
    if (isUnchanged) answer.position = Math.max(answer.position, position);
    return isUnchanged;
  }
}
