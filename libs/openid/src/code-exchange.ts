/** The authorization code flow of OpenID Connect, by openid-client, over requests that are limited. */
import { type Outbound, outboundFailure, readBeginning } from '@keelson/outbound';
import type {
  Configuration,
  CustomFetch,
  ServerMetadata,
  TokenEndpointResponse,
  TokenEndpointResponseHelpers,
} from 'openid-client';
import type { SealedLogin } from './sealed-state.ts';

const TIME_LIMIT_SECONDS = 5;
const MAX_ANSWER_BYTES = 256 * 1024;

/** The document by which a provider describes itself, or the claims about a user. */
type JsonDocument = Readonly<Record<string, unknown>>;

export interface OidcClient {
  readonly id: string;
  readonly secret: string;
  /** The document by which the provider describes itself. */
  readonly metadata: JsonDocument;
  /** Whether the signature of the token about the user is verified here; otherwise the caller does so. */
  readonly verifiesSignature?: true;
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
  { id, secret, metadata, verifiesSignature }: OidcClient,
  outbound: Pick<Outbound, 'fetch'>,
): Promise<Configuration> => {
  const oidc = await loadClient();
  const methods = metadata['token_endpoint_auth_methods_supported'];
  const isPostOnly =
    Array.isArray(methods) &&
    methods.includes('client_secret_post') &&
    !methods.includes('client_secret_basic');
  const authenticate = isPostOnly ? oidc.ClientSecretPost(secret) : oidc.ClientSecretBasic(secret);
  const server = metadata as JsonDocument & ServerMetadata;
  const configuration = new oidc.Configuration(server, id, {}, authenticate);
  configuration.timeout = TIME_LIMIT_SECONDS;
  configuration[oidc.customFetch] = boundedFetch(outbound);
  // The operator has chosen a provider without TLS, and was warned.
  if (server.issuer.startsWith('http:')) oidc.allowInsecureRequests(configuration);
  if (verifiesSignature === true) oidc.enableNonRepudiationChecks(configuration);
  return configuration;
};

const toScope = (scopes: readonly string[]): string =>
  [...new Set(['openid', ...scopes])].join(' ');

/** Where the browser is sent. @param state sealed */
export const authorizationUrl = async (
  client: OidcClient,
  outbound: Pick<Outbound, 'fetch'>,
  { redirectUri, nonce, codeVerifier }: SealedLogin,
  {
    state,
    scopes,
    postsForm = false,
    bringsToken = false,
  }: {
    readonly state: string;
    readonly scopes: readonly string[];
    /** Whether the browser posts a form to the address to which it returns. */
    readonly postsForm?: boolean;
    /** Whether it brings the token itself, and no code. */
    readonly bringsToken?: boolean;
  },
): Promise<string> => {
  const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await loadClient();
  return buildAuthorizationUrl(await configure(client, outbound), {
    redirect_uri: redirectUri,
    response_type: bringsToken ? 'id_token' : 'code',
    scope: toScope(scopes),
    state,
    nonce,
    ...(postsForm && { response_mode: 'form_post' }),
    ...(!bringsToken && {
      code_challenge: await calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    }),
  }).href;
};

/** The provider has refused, or has not answered; the reason is for the operator's log. */
export class ExchangeFailure extends Error {}

/** The token about a user, and the claims that the provider adds to it. */
export interface RedeemedUser {
  readonly idToken: string;
  /** The claims of the token. */
  readonly claims: JsonDocument;
  readonly userInfo: JsonDocument;
}

const toFailure = (cause: unknown): ExchangeFailure => {
  if (cause instanceof ExchangeFailure) return cause;
  const text = cause instanceof Error ? cause.message : outboundFailure(cause);
  return new ExchangeFailure(text, { cause });
};

/**
 * The document by which a provider describes itself (OpenID Connect Discovery 1.0 §4), which must name the issuer.
 * @throws ExchangeFailure
 */
export const discoverProvider = async (
  issuer: string,
  outbound: Pick<Outbound, 'fetch'>,
): Promise<JsonDocument> => {
  const oidc = await loadClient();
  try {
    const found = await oidc.discovery(new URL(issuer), 'keelson', undefined, oidc.None(), {
      [oidc.customFetch]: boundedFetch(outbound),
      timeout: TIME_LIMIT_SECONDS,
      execute: issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [],
    });
    return { ...found.serverMetadata() };
  } catch (cause) {
    throw toFailure(cause);
  }
};

/** The user of a provider's tokens. @throws ExchangeFailure without a token about the user */
const readUser = async (
  { metadata }: OidcClient,
  configuration: Configuration,
  tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
): Promise<RedeemedUser> => {
  const { id_token: idToken, access_token: accessToken } = tokens;
  const claims = tokens.claims();
  if (idToken === undefined || claims === undefined)
    throw new ExchangeFailure('the provider has sent no token about the user');
  if (typeof metadata['userinfo_endpoint'] !== 'string')
    return { idToken, claims: { ...claims }, userInfo: {} };
  const { fetchUserInfo } = await loadClient();
  const userInfo = (await fetchUserInfo(configuration, accessToken, claims.sub)) as JsonDocument;
  return { idToken, claims: { ...claims }, userInfo };
};

/**
 * Redeems the code of the browser.
 * @throws ExchangeFailure
 */
export const redeemCode = async (
  client: OidcClient,
  outbound: Pick<Outbound, 'fetch'>,
  { redirectUri, nonce, codeVerifier }: SealedLogin,
  answer: { readonly code: string; readonly state: string; readonly iss: string },
): Promise<RedeemedUser> => {
  const { authorizationCodeGrant } = await loadClient();
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
    return await readUser(client, configuration, tokens);
  } catch (cause) {
    throw toFailure(cause);
  }
};

/** The page at which somebody permits the login of a device, and by which the provider knows it. */
export interface DeviceAuthorization {
  readonly url: string;
  /** Which the user types there; "" if it is part of the address. */
  readonly userCode: string;
  readonly deviceCode: string;
  readonly expiresInSeconds: number;
  readonly intervalSeconds: number | undefined;
}

/** Begins the login of a device (RFC 8628). @throws ExchangeFailure */
export const authorizeDevice = async (
  client: OidcClient,
  outbound: Pick<Outbound, 'fetch'>,
  scopes: readonly string[],
): Promise<DeviceAuthorization> => {
  const { initiateDeviceAuthorization } = await loadClient();
  if (typeof client.metadata['device_authorization_endpoint'] !== 'string')
    throw new ExchangeFailure('the provider has no device_authorization_endpoint');
  try {
    const configuration = await configure(client, outbound);
    const begun = await initiateDeviceAuthorization(configuration, { scope: toScope(scopes) });
    const complete = begun.verification_uri_complete;
    return {
      url: complete ?? begun.verification_uri,
      userCode: complete === undefined ? begun.user_code : '',
      deviceCode: begun.device_code,
      expiresInSeconds: begun.expires_in,
      intervalSeconds: begun.interval,
    };
  } catch (cause) {
    throw toFailure(cause);
  }
};

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Names of the answers after which a device asks again (RFC 8628 §3.5). */
const PENDING = ['authorization_pending', 'slow_down'] as const;
export type PendingAnswer = (typeof PENDING)[number];

/**
 * The token about the user who has permitted the login of a device, or why there is none yet.
 * @throws ExchangeFailure
 */
export const redeemDevice = async (
  client: OidcClient,
  outbound: Pick<Outbound, 'fetch'>,
  deviceCode: string,
): Promise<RedeemedUser | PendingAnswer> => {
  const { genericGrantRequest, ResponseBodyError } = await loadClient();
  const configuration = await configure(client, outbound);
  try {
    const tokens = await genericGrantRequest(configuration, DEVICE_GRANT, {
      device_code: deviceCode,
    });
    return await readUser(client, configuration, tokens);
  } catch (cause) {
    const pending =
      cause instanceof ResponseBodyError && PENDING.find((name) => name === cause.error);
    if (pending) return pending;
    throw toFailure(cause);
  }
};
