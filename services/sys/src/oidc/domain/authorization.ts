/** Requests for authorization codes (OpenID Connect Core §3.1.2.1, RFC 7636). */
import { hash, timingSafeEqual } from 'node:crypto';
import { isAllowedRedirect } from '@keelson/openid/redirect-uri';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { entityRefShape } from '../../tokens/domain/token-entry.ts';
import { allowsClient, type Client, clientTypeOf, OPENID_SCOPE, type Provider } from './client.ts';

export const authorizationShape = Type.Object({
  provider: Type.String(),
  clientId: Type.String(),
  redirectUri: Type.String(),
  entity: entityRefShape,
  /** The token that asked for the code, which ends with it; a batch token has no accessor. */
  session: Type.Object({ accessor: Type.String(), namespaceId: Type.String() }),
  scopes: Type.Array(Type.String()),
  /** "" if the client gave none. */
  nonce: Type.String(),
  /** Undefined if the client did not ask for it. */
  authTimeMs: Type.Optional(Type.Number()),
  /** "" if the client did not send one. */
  codeChallenge: Type.String(),
  codeChallengeMethod: Type.Enum(['plain', 'S256']),
  expiresAtMs: Type.Number(),
});
export type Authorization = Shaped<typeof authorizationShape>;

/** Time in which the client redeems a code. */
export const CODE_LASTS_MS = 60_000;

export interface AuthorizationRequest {
  readonly client_id: string;
  readonly redirect_uri: string;
  readonly scope: string;
  readonly response_type: string;
  readonly nonce: string;
  readonly code_challenge: string | undefined;
  readonly code_challenge_method: string;
  readonly max_age: number | undefined;
  readonly request: string | undefined;
  readonly request_uri: string | undefined;
}

/** Why a request is refused, as the document of the API names it. */
export interface Fault {
  readonly error: string;
  readonly description: string;
  /** Whether the client learns of it, at an address that is certainly its own. */
  readonly isForClient: boolean;
}

const fault = (error: string, description: string, isForClient = true): Fault => ({
  error,
  description,
  isForClient,
});

/** Faults that are shown to the person alone: nothing is sent to an address that may be a stranger's. */
export const findPlaceFault = (
  request: AuthorizationRequest,
  provider: Provider | undefined,
  client: Client | undefined,
): Fault | undefined => {
  if (request.client_id === '')
    return fault('invalid_client_id', 'client_id parameter is required', false);
  if (client === undefined)
    return fault('invalid_client_id', 'client with client_id not found', false);
  if (request.redirect_uri === '')
    return fault('invalid_request', 'redirect_uri parameter is required', false);
  if (!isAllowedRedirect(client.redirectUris, request.redirect_uri))
    return fault('invalid_redirect_uri', 'redirect_uri is not allowed for the client', false);
  return provider === undefined ? fault('invalid_request', 'provider not found', false) : undefined;
};

const S256 = /^[\w-]{43}$/;
/** RFC 7636 §4.1. */
const PLAIN = /^[\w.~-]{43,128}$/;

const findChallengeFault = (
  { code_challenge: challenge, code_challenge_method: method }: AuthorizationRequest,
  client: Client,
): Fault | undefined => {
  if (challenge === undefined)
    return clientTypeOf(client) === 'public'
      ? fault('invalid_request', 'PKCE is required for public clients')
      : undefined;
  if (method !== 'S256' && method !== 'plain' && method !== '')
    return fault('invalid_request', 'invalid code_challenge_method');
  return (method === 'S256' ? S256 : PLAIN).test(challenge)
    ? undefined
    : fault('invalid_request', 'invalid code_challenge');
};

/** The scopes of a request, without repetitions. */
const scopesIn = ({ scope }: AuthorizationRequest): ReadonlySet<string> =>
  new Set(scope.split(' ').filter((one) => one !== ''));

/** Faults of the request itself, whoever sends it. */
export const findRequestFault = (
  request: AuthorizationRequest,
  provider: Provider,
  client: Client,
): Fault | undefined => {
  if (!allowsClient(provider, client.clientId))
    return fault('unauthorized_client', 'client is not authorized to use the provider');
  if (request.request !== undefined)
    return fault('request_not_supported', 'request parameter is not supported');
  if (request.request_uri !== undefined)
    return fault('request_uri_not_supported', 'request_uri parameter is not supported');
  if (!scopesIn(request).has(OPENID_SCOPE))
    return fault('invalid_request', `scope parameter must contain the "${OPENID_SCOPE}" value`);
  if (request.response_type === '')
    return fault('invalid_request', 'response_type parameter is required');
  if (request.response_type !== 'code')
    return fault('unsupported_response_type', 'unsupported response_type value');
  if (request.max_age !== undefined && request.max_age < 1)
    return fault('invalid_request', 'max_age must be greater than zero');
  return findChallengeFault(request, client);
};

/** Others are ignored, as OpenID Connect Core §3.1.2.1 has it. */
export const supportedScopes = (
  request: AuthorizationRequest,
  { scopesSupported }: Provider,
): readonly string[] =>
  [...scopesIn(request)].filter((one) => one !== OPENID_SCOPE && scopesSupported.includes(one));

/** Whether two texts are the same, in a time that depends on neither. */
export const areSame = (one: string, other: string): boolean =>
  timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));

/** Why a code is not redeemed with this verifier. */
export const findVerifierFault = (
  { codeChallenge, codeChallengeMethod }: Authorization,
  verifier: string,
): Fault | undefined => {
  if (codeChallenge === '')
    return verifier === ''
      ? undefined
      : fault('invalid_request', 'unexpected code_verifier for token exchange');
  if (verifier === '') return fault('invalid_request', 'expected code_verifier for token exchange');
  const computed =
    codeChallengeMethod === 'plain' ? verifier : hash('sha256', verifier, 'base64url');
  return PLAIN.test(verifier) && areSame(computed, codeChallenge)
    ? undefined
    : fault('invalid_grant', 'invalid code_verifier for token exchange');
};

/** The address that the browser goes back to. */
export const returnAddress = (
  redirectUri: string,
  parameters: Readonly<Record<string, string>>,
): string => {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters))
    if (value !== '') url.searchParams.append(name, value);
  return url.href;
};
