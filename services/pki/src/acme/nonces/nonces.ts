/** Replay protection (RFC 8555 §6.5). */

export interface Nonces {
  /** A new nonce, base64url. */
  issue(): Promise<string>;
  /** Returns true exactly once for each nonce that was issued and is not too old. */
  redeem(nonce: string): Promise<boolean>;
}
