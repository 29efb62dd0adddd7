/** The endpoints of a provider (OpenID Connect Core and Discovery), which clients and browsers call. */
import type { Route } from '@keelson/edge';
import { SIGNING_ALGORITHMS } from '@keelson/openid/algorithms';
import {
  type FieldValues,
  field,
  type OperationContext,
  type Result,
  rawResponse,
  secretsRoutes,
} from '@keelson/secrets-api';
import { presentedToken } from '../tokens/presented-token.ts';
import { presentedCredentials } from './basic-credentials.ts';
import { findProvider, providerIssuer, providerKeySet } from './client-operations.ts';
import { MAX_REDIRECT_URI, OPENID_SCOPE } from './domain/client.ts';
import { authorizePage } from './domain/issuer.ts';
import type { OidcContext } from './oidc-context.ts';
import {
  DISCOVERY_HEADERS,
  KEY_SET_HEADERS,
  nameOf,
  OIDC,
  PROVIDER_TAG as TAG,
} from './oidc-fields.ts';
import { authorize, findUserInfo, type Outcome, redeem } from './sign-in-operations.ts';

const BASE = `${OIDC}/provider/:name`;
const MAX_TEXT = 2048;

const text = (description: string, maxLength = MAX_TEXT) =>
  field.string({ description, default: '', maxLength });

const texts = { type: 'array', items: { type: 'string' } } as const;
const string = { type: 'string' } as const;
/** RFC 6749 §5.2. */
const REFUSAL = { error: string, error_description: string } as const;

/** RFC 6749 §5.1. */
const UNSTORED = { 'cache-control': 'no-store', pragma: 'no-cache' } as const;

const answer = (
  status: number,
  document: object,
  headers: Readonly<Record<string, string>> = UNSTORED,
): Result =>
  rawResponse(status, 'application/json', Buffer.from(JSON.stringify(document)), headers);

const providerName = nameOf('provider');

const discoveryRoutes = (context: OidcContext): Route[] => [
  ...secretsRoutes({
    path: `${BASE}/.well-known/openid-configuration`,
    tag: TAG,
    fields: { name: providerName },
    operations: {
      read: {
        summary: 'The endpoints of a provider, and what it supports (OpenID Connect Discovery)',
        answer: {
          document: {
            issuer: string,
            jwks_uri: string,
            authorization_endpoint: string,
            token_endpoint: string,
            userinfo_endpoint: string,
            request_parameter_supported: { type: 'boolean' },
            request_uri_parameter_supported: { type: 'boolean' },
            authorization_response_iss_parameter_supported: { type: 'boolean' },
            id_token_signing_alg_values_supported: texts,
            response_types_supported: texts,
            response_modes_supported: texts,
            scopes_supported: texts,
            claims_supported: texts,
            subject_types_supported: texts,
            grant_types_supported: texts,
            token_endpoint_auth_methods_supported: texts,
            code_challenge_methods_supported: texts,
          },
        },
        handle: async ({ namespace, fields: { name } }) => {
          const provider = await findProvider(context.store, namespace.id, name);
          if (provider === undefined) return undefined;
          const issuer = providerIssuer(context, namespace, name, provider);
          const page = authorizePage(
            {
              origin: provider.issuer,
              publicUrl: context.publicUrl,
              namespacePath: namespace.path,
            },
            name,
          );
          const document = {
            issuer,
            jwks_uri: `${issuer}/.well-known/keys`,
            authorization_endpoint: page,
            token_endpoint: `${issuer}/token`,
            userinfo_endpoint: `${issuer}/userinfo`,
            request_parameter_supported: false,
            request_uri_parameter_supported: false,
            authorization_response_iss_parameter_supported: true,
            id_token_signing_alg_values_supported: SIGNING_ALGORITHMS,
            response_types_supported: ['code'],
            response_modes_supported: ['query'],
            scopes_supported: [...provider.scopesSupported, OPENID_SCOPE],
            claims_supported: [],
            subject_types_supported: ['public'],
            grant_types_supported: ['authorization_code'],
            token_endpoint_auth_methods_supported: [
              'none',
              'client_secret_basic',
              'client_secret_post',
            ],
            code_challenge_methods_supported: ['plain', 'S256'],
          };
          return answer(200, document, DISCOVERY_HEADERS);
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/.well-known/keys`,
    tag: TAG,
    fields: { name: providerName },
    operations: {
      read: {
        summary: 'The keys that verify ID tokens of a provider (RFC 7517)',
        answer: { document: { keys: { type: 'array', items: { type: 'object' } } } },
        handle: async ({ namespace, fields: { name } }) => {
          const set = await providerKeySet(context, namespace.id, name);
          return set && answer(200, set, KEY_SET_HEADERS);
        },
      },
    },
  }),
];

const AUTHORIZE_FIELDS = {
  name: providerName,
  client_id: text('Id of the client.'),
  redirect_uri: text('Where the browser returns to.', MAX_REDIRECT_URI),
  scope: text('Scopes, separated by spaces, with openid among them.'),
  response_type: text('"code".', 64),
  state: text('Returned as it is.'),
  nonce: text('Becomes a claim of the ID token.'),
  code_challenge: field.string({ description: 'PKCE (RFC 7636).', maxLength: 128 }),
  code_challenge_method: text('"S256" or "plain".', 16),
  max_age: field.integer({
    description: 'Seconds within which the person must have signed in.',
  }),
  request: field.string({ description: 'Not supported.', maxLength: MAX_TEXT }),
  request_uri: field.string({ description: 'Not supported.', maxLength: MAX_TEXT }),
} as const;

const authorizeRoutes = (context: OidcContext): Route[] => {
  const handle = async ({
    namespace,
    fields,
    head,
  }: OperationContext<FieldValues<typeof AUTHORIZE_FIELDS>>): Promise<Result> => {
    const { name: provider, state, ...request } = fields;
    const { code, fault, redirectTo } = await authorize(context, {
      place: namespace,
      provider,
      request,
      state,
      token: presentedToken(head),
    });
    const document =
      fault === undefined
        ? { code, state }
        : { error: fault.error, error_description: fault.description, state };
    return answer(fault === undefined ? 200 : 400, {
      ...document,
      ...(redirectTo !== undefined && { redirect_to: redirectTo }),
    });
  };
  const described = {
    description:
      'The page of the console calls it for the person who has signed in. `redirect_to` is where the browser goes, also with most errors.',
    answer: {
      document: { code: string, state: string, redirect_to: string },
      refusals: {
        statuses: [400],
        document: { ...REFUSAL, state: string, redirect_to: string },
      },
    },
    handle,
  };
  return secretsRoutes({
    path: `${BASE}/authorize`,
    tag: TAG,
    fields: AUTHORIZE_FIELDS,
    operations: {
      read: { summary: 'Ask for a code that a client redeems for tokens', ...described },
      update: { summary: 'Ask for a code that a client redeems for tokens', ...described },
    },
  });
};

const refused = (
  { error, description }: { readonly error: string; readonly description: string },
  statuses: Readonly<Record<string, number>>,
  challenge: string | undefined,
): Result =>
  answer(
    statuses[error] ?? 400,
    { error, error_description: description },
    { ...UNSTORED, ...(challenge !== undefined && { 'www-authenticate': challenge }) },
  );

const TOKEN_FIELDS = {
  name: providerName,
  grant_type: text('"authorization_code".', 64),
  code: text('The code, which is good for one attempt.', 256),
  redirect_uri: text('As in the request for the code.', MAX_REDIRECT_URI),
  client_id: text('Id of the client, unless the request has it as a user name.'),
  client_secret: text('Secret of the client, unless the request has it as a password.'),
  code_verifier: text('PKCE (RFC 7636).', 128),
} as const;

const tokenRoutes = (context: OidcContext): Route[] =>
  secretsRoutes({
    path: `${BASE}/token`,
    tag: TAG,
    fields: TOKEN_FIELDS,
    operations: {
      update: {
        summary: 'Redeem a code for an ID token and an access token',
        description: 'The client proves itself by Basic authentication or in the body.',
        answer: {
          document: {
            access_token: string,
            id_token: string,
            token_type: string,
            expires_in: { type: 'integer' },
          },
          refusals: { statuses: [400, 401], document: REFUSAL },
        },
        handle: async ({ namespace, fields, head }) => {
          const { name, client_id, client_secret, ...request } = fields;
          const basic = presentedCredentials(head);
          if (basic !== undefined && client_secret !== '')
            return refused(
              { error: 'invalid_request', description: 'the client has proved itself twice' },
              {},
              undefined,
            );
          const outcome = await redeem(context, namespace, name, {
            ...request,
            clientId: basic?.name ?? client_id,
            clientSecret: basic?.password ?? client_secret,
          });
          if (!('found' in outcome))
            return refused(
              outcome,
              { invalid_client: 401 },
              outcome.error === 'invalid_client' ? 'Basic' : undefined,
            );
          const { accessToken, idToken, expiresInSeconds } = outcome.found;
          return answer(200, {
            token_type: 'Bearer',
            access_token: accessToken,
            id_token: idToken,
            expires_in: expiresInSeconds,
          });
        },
      },
    },
  });

const challengeOf = ({ error, description }: Exclude<Outcome<never>, { found: never }>) =>
  error === 'invalid_request' || error === 'invalid_token'
    ? `Bearer error="${error}",error_description="${description.replaceAll(/["\\]/g, "'")}"`
    : undefined;

const userInfoRoutes = (context: OidcContext): Route[] => {
  const fields = { name: providerName };
  const handle = async ({
    namespace,
    fields: { name },
    head,
  }: OperationContext<FieldValues<typeof fields>>): Promise<Result> => {
    const outcome = await findUserInfo(context, namespace, name, presentedToken(head));
    return 'found' in outcome
      ? answer(200, outcome.found)
      : refused(outcome, { invalid_token: 401, access_denied: 403 }, challengeOf(outcome));
  };
  const described = {
    description: 'Authorised by an access token, as `Authorization: Bearer`.',
    answer: {
      // The claims of the scopes are members.
      document: {},
      refusals: { statuses: [400, 401, 403], document: REFUSAL },
    },
    handle,
  };
  return secretsRoutes({
    path: `${BASE}/userinfo`,
    tag: TAG,
    fields,
    operations: {
      read: { summary: 'The claims of the scopes of an access token', ...described },
      update: { summary: 'The claims of the scopes of an access token', ...described },
    },
  });
};

export const oidcSignInRoutes = (context: OidcContext): Route[] => [
  ...discoveryRoutes(context),
  ...authorizeRoutes(context),
  ...tokenRoutes(context),
  ...userInfoRoutes(context),
];
