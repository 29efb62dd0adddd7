/** Tokens in compact form (JWS): the claims of one, and its signature, which jose verifies. */
import { parseJson } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { Claims } from './domain/claims.ts';
import {
  candidatesFor,
  type SignatureHead,
  type VerificationKey,
} from './domain/verification-keys.ts';

/** Longest token; those with some 200 groups have 12 KiB. */
export const MAX_TOKEN_LENGTH = 16_384;

const CLAIM_LIMITS = {
  depth: 32,
  stringLength: MAX_TOKEN_LENGTH,
  objectEntries: 1000,
  arrayElements: 1000,
  documentEntries: 5000,
} as const;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text: `error validating token: ${text}` });
};

const importJose = () => import('jose');
let jose: ReturnType<typeof importJose> | undefined;

/** Loads the library at the first login that needs it; another `import()` would look it up again each time. */
const loadJose = (): ReturnType<typeof importJose> => {
  jose ??= importJose();
  return jose;
};

const readHead = async (token: string, algorithms: readonly string[]): Promise<SignatureHead> => {
  const { decodeProtectedHeader } = await loadJose();
  try {
    const { alg, kid, b64 } = decodeProtectedHeader(token);
    // A payload that is not encoded is no JWT (RFC 7797 §7).
    if (typeof alg === 'string' && algorithms.includes(alg) && b64 !== false)
      return { alg, kid: typeof kid === 'string' ? kid : undefined };
  } catch {
    return refuse('it is not a signed token in compact form (JWS)');
  }
  return refuse(`it is not signed with one of the algorithms ${algorithms.join(', ')}`);
};

const parseClaims = (payload: Uint8Array): Claims => {
  try {
    const claims = parseJson(payload, CLAIM_LIMITS);
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims))
      return claims as Claims;
  } catch {
    return refuse('its claims are not a JSON object within the limits');
  }
  return refuse('its claims are not a JSON object');
};

const COMPACT = /^[\w-]+\.([\w-]+)\.[\w-]+$/;

/** The claims of a token of which nobody has verified the signature. @throws KeelsonError `request.invalid` */
export const readUnverifiedClaims = (token: string): Claims => {
  const payload = COMPACT.exec(token)?.[1] ?? refuse('it is not a signed token in compact form');
  return parseClaims(Buffer.from(payload, 'base64url'));
};

export interface CollectedKeys {
  readonly keys: readonly VerificationKey[];
  /** Whether each provider has said which keys it has. */
  readonly areComplete: boolean;
}

/**
 * The claims of a token that one of the keys has signed. Of a claim that is given twice the last one counts, as
 * RFC 7519 §4 has it.
 * @param collectKeys those that may have the id
 * @throws KeelsonError `request.invalid`
 */
export const verifySignature = async (
  token: string,
  algorithms: readonly string[],
  collectKeys: (kid: string | undefined) => Promise<CollectedKeys>,
): Promise<Claims> => {
  const head = await readHead(token, algorithms);
  const { keys, areComplete } = await collectKeys(head.kid);
  const { compactVerify, errors } = await loadJose();
  for (const { key } of candidatesFor(keys, head))
    try {
      const { payload } = await compactVerify(token, key, { algorithms: [...algorithms] });
      return parseClaims(payload);
    } catch (error) {
      if (error instanceof errors.JWSSignatureVerificationFailed) continue;
      if (error instanceof errors.JOSEError) refuse('its signature cannot be verified');
      throw error;
    }
  return refuse(
    areComplete
      ? 'no known key successfully validated the token signature'
      : 'the keys of the provider cannot be fetched at the moment',
  );
};
