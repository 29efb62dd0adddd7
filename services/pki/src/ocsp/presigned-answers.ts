/**
 * Answers signed before, for requests without a nonce (RFC 6960 §2.5). One is served again only while
 * nothing it rests on has changed since it was signed; age alone makes it be signed anew, at half of
 * its validity.
 */
import type { CertificateStatus } from '@keelson/x509';
import type { Authority } from '../issuers/domain/authority.ts';
import type { MountScope } from '../mounts/mount-records.ts';

export interface PresignedAnswer {
  readonly der: Uint8Array;
  readonly mount: MountScope;
  readonly serialKey: string;
  readonly status: CertificateStatus;
  readonly authority: Authority;
  readonly hasUnstored: boolean;
  readonly signAgainAtMs: number;
  /** Of the store, at which everything it rests on was looked at last. */
  position: number;
}

/** Roughly 700 bytes each. */
const MAX_ANSWERS = 100_000;

export class PresignedAnswers {
  readonly #answers = new Map<string, PresignedAnswer>();

  find(key: string): PresignedAnswer | undefined {
    return this.#answers.get(key);
  }

  put(key: string, answer: PresignedAnswer): void {
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MAX_ANSWERS) break;
      this.#answers.delete(oldest);
    }
  }

  /** Answers hold on to the authority, and so to its keys. */
  clear(): void {
    this.#answers.clear();
  }
}
