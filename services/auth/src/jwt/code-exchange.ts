/** The authorization code flow of OpenID Connect, by openid-client, over requests that are limited. */
import { type Outbound, outboundFailure, readBeginning } from '@keelson/outbound';
import type { Configuration, CustomFetch, ServerMetadata } from 'openid-client';
import type { Claims } from '../providers/domain/claims.ts';
import type { ProviderDocument } from '../providers/provider-requests.ts';
import type { LoginState } from './domain/login-state.ts';

const TIME_LIMIT_SECONDS = 5;
const MAX_ANSWER_BYTES = 256 * 1024;

export interface OidcClient {
  readonly id: string;
  readonly secret: string;
  /** The document by which the provider describes itself. */
  readonly metadata: ProviderDocument;
}

// Loaded by the first login through a browser.
const loadClient = () => import('openid-client');

const boundedFetch =
  ({ fetch }: Pick<Outbound, 'fetch'>): CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    const response = await fetch(url, {
      method,
      headers: { ...headers, 'user-agent': 'keelson' },
      redirect: 'manual',
      ...(signal !== undefined && { signal }),
      ...(body !== undefined &&
        body !== null && { body: body instanceof URLSearchParams ? body.toString() : body }),
    });
    const text = await readBeginning(response, MAX_ANSWER_BYTES + 1);
    if (Buffer.byteLength(text) > MAX_ANSWER_BYTES) throw new Error('the answer is too long');
    const type = response.headers.get('content-type') ?? '';
    return new Response(response.status === 204 ? null : text, {
      status: response.status,
      headers: { 'content-type': type },
    });
  };

const configure = async (
  { id, secret, metadata }: OidcClient,
  outbound: Pick<Outbound, 'fetch'>,
): Promise<Configuration> => {
  const oidc = await loadClient();
  const methods = metadata['token_endpoint_auth_methods_supported'];
  const isPostOnly =
    Array.isArray(methods) &&
    methods.includes('client_secret_post') &&
    !methods.includes('client_secret_basic');
  const authenticate = isPostOnly ? oidc.ClientSecretPost(secret) : oidc.ClientSecretBasic(secret);
  const server = metadata as ProviderDocument & ServerMetadata;
  const configuration = new oidc.Configuration(server, id, {}, authenticate);
  configuration.timeout = TIME_LIMIT_SECONDS;
  configuration[oidc.customFetch] = boundedFetch(outbound);
  // The operator has chosen a provider without TLS, and was warned.
  if (server.issuer.startsWith('http:')) oidc.allowInsecureRequests(configuration);
  return configuration;
};

/** Where the browser is sent. @param state sealed */
export const authorizationUrl = async (
  client: OidcClient,
  outbound: Pick<Outbound, 'fetch'>,
  { redirectUri, nonce, codeVerifier }: LoginState,
  { state, scopes }: { readonly state: string; readonly scopes: readonly string[] },
): Promise<string> => {
  const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await loadClient();
  return buildAuthorizationUrl(await configure(client, outbound), {
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: [...new Set(['openid', ...scopes])].join(' '),
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  }).href;
};

/** The provider has refused the code, or has not answered; the reason is for the operator's log. */
export class ExchangeFailure extends Error {}

/**
 * Redeems the code of the browser.
 * @returns the token about the user, of which the signature is still to be verified, and what the provider adds to it
 * @throws ExchangeFailure
 */
export const redeemCode = async (
  client: OidcClient,
  outbound: Pick<Outbound, 'fetch'>,
  { redirectUri, nonce, codeVerifier }: LoginState,
  answer: { readonly code: string; readonly state: string; readonly iss: string },
): Promise<{ readonly idToken: string; readonly userInfo: Claims }> => {
  const { authorizationCodeGrant, fetchUserInfo } = await loadClient();
  const configuration = await configure(client, outbound);
  const url = new URL(redirectUri);
  url.searchParams.set('code', answer.code);
  url.searchParams.set('state', answer.state);
  if (answer.iss !== '') url.searchParams.set('iss', answer.iss);
  try {
    const tokens = await authorizationCodeGrant(configuration, url, {
      expectedNonce: nonce,
      expectedState: answer.state,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
    });
    const subject = tokens.claims()?.sub;
    if (tokens.id_token === undefined || subject === undefined)
      throw new ExchangeFailure('the provider has sent no token about the user');
    const hasUserInfo = typeof client.metadata['userinfo_endpoint'] === 'string';
    const userInfo = hasUserInfo
      ? await fetchUserInfo(configuration, tokens.access_token, subject)
      : {};
    return { idToken: tokens.id_token, userInfo: userInfo as Claims };
  } catch (cause) {
    if (cause instanceof ExchangeFailure) throw cause;
    const text = cause instanceof Error ? cause.message : outboundFailure(cause);
    throw new ExchangeFailure(text, { cause });
  }
};
