/** Signing in to a client: the authorization code, its exchange for tokens, and what an access token shows. */
import { hash } from 'node:crypto';
import { hasCode } from '@keelson/errors';
import type { SigningAlgorithm } from '@keelson/openid/algorithms';
import { signClaims } from '@keelson/openid/signing-keys';
import type { Reads } from '@keelson/storage';
import type { EntityRef, TokenEntry } from '../tokens/domain/token-entry.ts';
import type { EntityRights } from '../tokens/token-context.ts';
import { findToken, findTokenByAccessor, randomBase62 } from '../tokens/token-operations.ts';
import { findStoredToken, hashSecret } from '../tokens/token-records.ts';
import { openAccessToken, sealAccessToken } from './access-token.ts';
import { findAssignment, findProvider, providerIssuer } from './client-operations.ts';
import {
  type Authorization,
  type AuthorizationRequest,
  areSame,
  CODE_LASTS_MS,
  type Fault,
  findPlaceFault,
  findRequestFault,
  findVerifierFault,
  returnAddress,
  supportedScopes,
} from './domain/authorization.ts';
import { type Claims, fillTemplate, mergeClaims } from './domain/claim-template.ts';
import {
  allowsClient,
  type Client,
  clientTypeOf,
  isAssigned,
  type Provider,
} from './domain/client.ts';
import { maySignFor } from './domain/named-key.ts';
import { requireSigner, templateValues } from './identity-token-operations.ts';
import type { OidcContext, Place } from './oidc-context.ts';
import {
  countCodesOf,
  deleteExpiredCodes,
  findClientById,
  scopes,
  takeCode,
  writeCode,
} from './oidc-records.ts';

const CODE_LENGTH = 32;
/** Codes of one entity that wait to be redeemed. */
const MAX_CODES = 100;
const SWEEP_PORTION = 500;

/** The answer of the token and userinfo endpoints: a document, or why there is none. */
export type Outcome<T> = { readonly found: T } | Pick<Fault, 'error' | 'description'>;

const refusal = (error: string, description: string) => ({ error, description });

/** Whether an entity may sign in to a client; undefined for one that is disabled or deleted. */
const findAssigned = async (
  { identityOf, store }: OidcContext,
  namespaceId: string,
  client: Client,
  entity: EntityRef,
): Promise<{ readonly rights: EntityRights; readonly isAssigned: boolean } | undefined> => {
  const rights = await identityOf(entity);
  if (rights === undefined) return undefined;
  const found = await Promise.all(
    client.assignments.map((name) => findAssignment(store, namespaceId, name)),
  );
  const { identity, entityIds } = rights;
  const person = { entityIds, groupIds: identity.groups.map(({ id }) => id) };
  return { rights, isAssigned: isAssigned(found, person) };
};

/** When the person signed in: a token that another one made is of the same login. */
const signedInMs = async (reads: Reads, token: TokenEntry): Promise<number> => {
  let earliest = token.createdAtMs;
  for (let { parent } = token; parent !== undefined; ) {
    const found = await findStoredToken(reads, parent);
    if (found === undefined) break;
    earliest = Math.min(earliest, found.createdAtMs);
    parent = found.parent;
  }
  return earliest;
};

export interface AuthorizationParts {
  readonly place: Place;
  readonly provider: string;
  readonly request: AuthorizationRequest;
  readonly state: string;
  /** The token of the request. */
  readonly token: string;
}

export interface AuthorizationAnswer {
  readonly code?: string;
  readonly fault?: Fault;
  /** Where the browser goes; undefined if the client learns nothing. */
  readonly redirectTo?: string;
}

const fault = (error: string, description: string, isForClient = true): Fault => ({
  error,
  description,
  isForClient,
});

/** Stores a code for whoever may sign in to the client. */
const grantCode = async (
  context: OidcContext,
  { place, provider: name, request, token: presented }: AuthorizationParts,
  provider: Provider,
  client: Client,
): Promise<Fault | string> => {
  const { store, clock } = context;
  const token = await findToken(context, presented);
  if (token?.entity === undefined)
    return fault('access_denied', 'identity entity must be associated with the request');
  const person = await findAssigned(context, place.id, client, token.entity);
  if (person === undefined)
    return fault('access_denied', 'identity entity associated with the request not found');
  if (!person.isAssigned)
    return fault('access_denied', 'identity entity not authorized by client assignment');
  const nowMs = clock.nowMs();
  const authTimeMs = request.max_age === undefined ? undefined : await signedInMs(store, token);
  if (authTimeMs !== undefined && nowMs - authTimeMs > (request.max_age ?? 0) * 1000)
    return fault('max_age_violation', 'active re-authentication is required by max_age', false);
  const code = randomBase62(CODE_LENGTH);
  const { entity } = token;
  return store.transact(async (tx) => {
    if ((await countCodesOf(tx, entity, MAX_CODES)) >= MAX_CODES)
      return fault('access_denied', 'too many codes of the entity wait to be redeemed');
    const ref = { namespaceId: place.id, hash: await hashSecret(tx, code) };
    await writeCode(tx, ref, {
      provider: name,
      clientId: client.clientId,
      redirectUri: request.redirect_uri,
      entity,
      session: { accessor: token.accessor, namespaceId: token.namespace.id },
      scopes: [...supportedScopes(request, provider)],
      nonce: request.nonce,
      ...(authTimeMs !== undefined && { authTimeMs }),
      codeChallenge: request.code_challenge ?? '',
      codeChallengeMethod: request.code_challenge_method === 'S256' ? 'S256' : 'plain',
      expiresAtMs: nowMs + CODE_LASTS_MS,
    });
    return code;
  });
};

/** A code for the client, or why there is none. */
export const authorize = async (
  context: OidcContext,
  parts: AuthorizationParts,
): Promise<AuthorizationAnswer> => {
  const { place, provider: name, request, state } = parts;
  const provider = await findProvider(context.store, place.id, name);
  const client = await findClientById(context.store, place.id, request.client_id);
  const unplaced = findPlaceFault(request, provider, client);
  if (unplaced !== undefined || provider === undefined || client === undefined)
    return { fault: unplaced ?? fault('invalid_request', 'provider not found', false) };
  const iss = providerIssuer(context, place, name, provider);
  const granted =
    findRequestFault(request, provider, client) ??
    (await grantCode(context, parts, provider, client));
  const answer = typeof granted === 'string' ? { code: granted } : { fault: granted };
  if (typeof granted !== 'string' && !granted.isForClient) return answer;
  const parameters =
    typeof granted === 'string'
      ? { code: granted, state, iss }
      : { error: granted.error, error_description: granted.description, state, iss };
  return { ...answer, redirectTo: returnAddress(request.redirect_uri, parameters) };
};

export interface TokenRequest {
  readonly grant_type: string;
  readonly code: string;
  readonly redirect_uri: string;
  readonly code_verifier: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface IssuedTokens {
  readonly accessToken: string;
  readonly idToken: string;
  readonly expiresInSeconds: number;
}

/** A client that has proved itself. */
const authenticate = async (
  { store }: OidcContext,
  namespaceId: string,
  { clientId, clientSecret }: TokenRequest,
): Promise<Client | undefined> => {
  const client = await findClientById(store, namespaceId, clientId);
  // Compared also for an unknown client, which then takes no less time.
  const isRight = areSame(clientSecret, client?.clientSecret ?? '');
  if (client === undefined) return undefined;
  return clientTypeOf(client) === 'public' || isRight ? client : undefined;
};

const HASHES: Readonly<Record<SigningAlgorithm, string>> = {
  RS256: 'sha256',
  RS384: 'sha384',
  RS512: 'sha512',
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
  EdDSA: 'sha512',
};

/** `at_hash` and `c_hash` (OpenID Connect Core §3.1.3.6, §3.3.2.11). */
const halfHash = (algorithm: SigningAlgorithm, text: string): string => {
  const whole = hash(HASHES[algorithm], text, 'buffer');
  return whole.subarray(0, whole.length / 2).toString('base64url');
};

/** The claims of scopes; unknown scopes are ignored. */
const claimsOf = async (
  context: OidcContext,
  namespaceId: string,
  names: readonly string[],
  { identity }: EntityRights,
): Promise<Claims> => {
  const parts = [];
  for (const scope of names) {
    const found = await scopes.find(context.store, namespaceId, scope);
    if (found !== undefined)
      parts.push({
        scope,
        claims: fillTemplate(found.template, templateValues(context, identity)),
      });
  }
  return mergeClaims(parts);
};

/** The claims, or why the templates of the scopes have none. */
const claimsOrRefusal = async (claims: Promise<Claims>): Promise<Outcome<Claims>> => {
  try {
    return { found: await claims };
  } catch (error) {
    if (hasCode(error, 'request.invalid')) return refusal('invalid_request', error.message);
    throw error;
  }
};

/** Why a code is not redeemed by this client at this provider. */
const findCodeFault = (
  authorization: Authorization,
  request: TokenRequest,
  provider: string,
  client: Client,
  nowMs: number,
): Pick<Fault, 'error' | 'description'> | undefined => {
  const { clientId, redirectUri, expiresAtMs } = authorization;
  if (expiresAtMs <= nowMs)
    return refusal('invalid_grant', 'authorization grant is invalid or expired');
  if (clientId !== client.clientId)
    return refusal('invalid_grant', 'authorization code was not issued to the client');
  if (authorization.provider !== provider)
    return refusal('invalid_grant', 'authorization code was not issued by the provider');
  if (request.redirect_uri === '')
    return refusal('invalid_request', 'redirect_uri parameter is required');
  if (redirectUri !== request.redirect_uri)
    return refusal(
      'invalid_grant',
      'redirect_uri does not match the redirect_uri used in the authorization request',
    );
  return findVerifierFault(authorization, request.code_verifier);
};

const issueTokens = async (
  context: OidcContext,
  place: Place,
  authorization: Authorization,
  parts: {
    readonly provider: Provider;
    readonly client: Client;
    readonly rights: EntityRights;
    readonly code: string;
  },
): Promise<Outcome<IssuedTokens>> => {
  const { provider, client, rights, code } = parts;
  const { key, signer } = await requireSigner(context, place.id, client.key);
  if (!maySignFor(key, client.clientId))
    return refusal('invalid_client', 'client is not authorized to use the key');
  const claims = await claimsOrRefusal(claimsOf(context, place.id, authorization.scopes, rights));
  if (!('found' in claims)) return claims;
  const nowMs = context.clock.nowMs();
  const accessToken = sealAccessToken(context.barrier, {
    namespaceId: place.id,
    provider: authorization.provider,
    clientId: client.clientId,
    entity: authorization.entity,
    scopes: authorization.scopes,
    expiresAtMs: nowMs + client.accessTokenSeconds * 1000,
  });
  const { nonce, authTimeMs } = authorization;
  const iat = Math.floor(nowMs / 1000);
  const idToken = await signClaims(signer, signer.algorithm, {
    ...claims.found,
    iss: providerIssuer(context, place, authorization.provider, provider),
    sub: rights.identity.entity.id,
    aud: client.clientId,
    iat,
    exp: iat + client.idTokenSeconds,
    namespace: place.id,
    ...(nonce !== '' && { nonce }),
    ...(authTimeMs !== undefined && { auth_time: Math.floor(authTimeMs / 1000) }),
    at_hash: halfHash(signer.algorithm, accessToken),
    c_hash: halfHash(signer.algorithm, code),
  });
  return { found: { accessToken, idToken, expiresInSeconds: client.accessTokenSeconds } };
};

/** Tokens for a code, which is spent by the attempt, whatever comes of it. */
export const redeem = async (
  context: OidcContext,
  place: Place,
  name: string,
  request: TokenRequest,
): Promise<Outcome<IssuedTokens>> => {
  const { store, clock } = context;
  const provider = await findProvider(store, place.id, name);
  if (provider === undefined) return refusal('invalid_request', 'provider not found');
  if (request.clientId === '') return refusal('invalid_request', 'client_id parameter is required');
  const client = await authenticate(context, place.id, request);
  if (client === undefined) return refusal('invalid_client', 'client failed to authenticate');
  if (!allowsClient(provider, client.clientId))
    return refusal('invalid_client', 'client is not authorized to use the provider');
  const { grant_type, code } = request;
  if (grant_type === '') return refusal('invalid_request', 'grant_type parameter is required');
  if (grant_type !== 'authorization_code')
    return refusal('unsupported_grant_type', 'unsupported grant_type value');
  if (code === '') return refusal('invalid_request', 'code parameter is required');
  const authorization = await store.transact(async (tx) =>
    takeCode(tx, { namespaceId: place.id, hash: await hashSecret(tx, code) }),
  );
  if (authorization === undefined)
    return refusal('invalid_grant', 'authorization grant is invalid or expired');
  const codeFault = findCodeFault(authorization, request, name, client, clock.nowMs());
  if (codeFault !== undefined) return codeFault;
  const { accessor, namespaceId } = authorization.session;
  if (accessor !== '' && (await findTokenByAccessor(context, namespaceId, accessor)) === undefined)
    return refusal('invalid_grant', 'the session that asked for the code has ended');
  const person = await findAssigned(context, place.id, client, authorization.entity);
  if (person === undefined || !person.isAssigned)
    return refusal('invalid_grant', 'identity entity not authorized by client assignment');
  return issueTokens(context, place, authorization, {
    provider,
    client,
    rights: person.rights,
    code,
  });
};

/** The claims that the client of an access token may know of the person now. */
export const findUserInfo = async (
  context: OidcContext,
  place: Place,
  name: string,
  token: string,
): Promise<Outcome<Claims>> => {
  const { store, barrier, clock } = context;
  const provider = await findProvider(store, place.id, name);
  if (provider === undefined) return refusal('invalid_request', 'provider not found');
  const grant = openAccessToken(barrier, token, clock.nowMs());
  if (grant === undefined || grant.namespaceId !== place.id || grant.provider !== name)
    return refusal('invalid_token', 'access token is expired or invalid');
  const client = await findClientById(store, place.id, grant.clientId);
  if (client === undefined) return refusal('access_denied', 'client not found');
  if (!allowsClient(provider, client.clientId))
    return refusal('access_denied', 'client is not authorized to use the provider');
  const person = await findAssigned(context, place.id, client, grant.entity);
  if (person === undefined)
    return refusal('access_denied', 'identity entity associated with the request not found');
  if (!person.isAssigned)
    return refusal('access_denied', 'identity entity not authorized by client assignment');
  const supported = grant.scopes.filter((scope) => provider.scopesSupported.includes(scope));
  const claims = await claimsOrRefusal(claimsOf(context, place.id, supported, person.rights));
  if (!('found' in claims)) return claims;
  return { found: { ...claims.found, sub: person.rights.identity.entity.id } };
};

/** Deletes codes that nobody has redeemed in time. @returns whether there may be more */
export const sweepCodes = async (
  { store, clock }: OidcContext,
  options: Parameters<OidcContext['store']['transact']>[1] = {},
): Promise<boolean> =>
  (await store.transact((tx) => deleteExpiredCodes(tx, clock.nowMs(), SWEEP_PORTION), options)) ===
  SWEEP_PORTION;
