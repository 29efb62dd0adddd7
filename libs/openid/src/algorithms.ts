/** The algorithms that tokens are signed with (RFC 7518, RFC 8037). */
export const SIGNING_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

export const isSigningAlgorithm = (text: string): text is SigningAlgorithm =>
  SIGNING_ALGORITHMS.some((one) => one === text);
