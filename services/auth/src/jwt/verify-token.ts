/** Verifies the signature of a token, by jose, with the keys of a mount. */
import { parseJson } from '@keelson/edge';
import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { compactVerify, decodeProtectedHeader, errors } from 'jose';
import type { Claims } from './domain/claims.ts';
import { algorithmsOf, type JwtConfig, keySourcesOf } from './domain/jwt-config.ts';
import {
  candidatesFor,
  parsePemKey,
  type SignatureHead,
  type VerificationKey,
} from './domain/verification-keys.ts';
import type { ProviderKeys } from './provider-keys.ts';
import { ProviderFailure } from './provider-requests.ts';

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

const readHead = (token: string, algorithms: readonly string[]): SignatureHead => {
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

/** The keys of all places; a provider that is away matters only if no other one has signed the token. */
const collectKeys = async (
  mount: MountScope,
  config: JwtConfig,
  providerKeys: ProviderKeys,
  kid: string | undefined,
): Promise<{ readonly keys: readonly VerificationKey[]; readonly areComplete: boolean }> => {
  const fixed = config.validationPubkeys.flatMap((pem) => parsePemKey(pem) ?? []);
  const fetched = await Promise.all(
    keySourcesOf(config).map(async (source) => {
      try {
        return await providerKeys.keysWith(mount, source, kid);
      } catch (error) {
        if (error instanceof ProviderFailure) return undefined;
        throw error;
      }
    }),
  );
  return {
    keys: [...fixed, ...fetched.flatMap((keys) => keys ?? [])],
    areComplete: !fetched.includes(undefined),
  };
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

/**
 * The claims of a token that a key of the mount has signed. Of a claim that is given twice the last one counts, as
 * RFC 7519 §4 has it.
 * @throws KeelsonError `request.invalid`
 */
export const verifyToken = async (
  mount: MountScope,
  config: JwtConfig,
  providerKeys: ProviderKeys,
  token: string,
): Promise<Claims> => {
  const algorithms = algorithmsOf(config);
  const head = readHead(token, algorithms);
  const { keys, areComplete } = await collectKeys(mount, config, providerKeys, head.kid);
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
