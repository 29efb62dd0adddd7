/** Limits that no deployment has to choose. Tests pass lower ones to `composeGateway`. */
export interface GatewayLimits {
  /** Largest request body of a caller without a token: ACME, OCSP, EST, unsealing, key ceremonies. */
  readonly anonymousBodyBytes: number;
  /** All request bodies in memory, a quarter of it for callers without a token. Signed uploads do not count. */
  readonly bodiesBytes: number;
  /** Request bodies of one client address in memory. */
  readonly clientBodiesBytes: number;
  /** Time for an upload or download at a signed address, and for reading an answer that has begun. */
  readonly transferMs: number;
  /** Live streams at a time, each of one page of the console. */
  readonly liveStreams: number;
  /** The same for one client address. */
  readonly clientLiveStreams: number;
}

export const GATEWAY_LIMITS: GatewayLimits = {
  // The largest message that ACME and EST need.
  anonymousBodyBytes: 256 * 1024,
  bodiesBytes: 64 * 1024 * 1024,
  clientBodiesBytes: 32 * 1024 * 1024,
  transferMs: 3_600_000,
  liveStreams: 512,
  clientLiveStreams: 32,
};
