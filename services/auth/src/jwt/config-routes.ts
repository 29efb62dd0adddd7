/** `config`: whose tokens the mount accepts. */
import { parseJson, type Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { type FieldValues, field, type JsonObject, secretsRoutes } from '@keelson/secrets-api';
import { SIGNATURE_ALGORITHMS } from '../providers/domain/verification-keys.ts';
import {
  certificatesField,
  MAX_PEM_LENGTH,
  publicKeysField,
  urlField,
} from '../providers/provider-fields.ts';
import { findConfig, type JwtContext, replaceConfig } from './config-operations.ts';
import type { JwtConfig } from './domain/jwt-config.ts';

const MAX_PAIRS = 16;
const PAIR_LIMITS = {
  depth: 4,
  stringLength: MAX_PEM_LENGTH,
  objectEntries: 16,
  arrayElements: 16,
  documentEntries: 32,
} as const;

const PAIR_FIELDS = {
  jwks_url: urlField('jwks_pairs', 'Address of a JSON Web Key Set.'),
  jwks_ca_pem: certificatesField('jwks_pairs'),
} as const;

const CONFIG_FIELDS = {
  oidc_discovery_url: urlField(
    'oidc_discovery_url',
    'Issuer of the tokens, below which its discovery document is found.',
  ),
  oidc_discovery_ca_pem: certificatesField('oidc_discovery_ca_pem'),
  oidc_client_id: field.string({
    description: 'Client that the provider knows, for logins through a browser.',
    default: '',
    maxLength: 1024,
  }),
  oidc_client_secret: field.string({
    description: 'Secret of the client, which is never shown.',
    default: '',
    maxLength: 4096,
  }),
  oidc_response_mode: field.string({
    description:
      'How the browser returns: "query" (default) with parameters in its address, or "form_post" with a form.',
    default: '',
    maxLength: 16,
    check: (mode) =>
      mode === '' || mode === 'query' || mode === 'form_post'
        ? undefined
        : `invalid response_mode: "${mode}"`,
  }),
  oidc_response_types: field.commaList({
    description:
      'What the browser returns with: "code" (default), or "id_token", which needs form_post.',
    default: [],
    maxLength: 64,
    check: (types) =>
      types.every((type) => type === 'code' || type === 'id_token')
        ? undefined
        : 'invalid response_types: each must be "code" or "id_token"',
  }),
  jwks_url: urlField('jwks_url', 'Address of a JSON Web Key Set.'),
  jwks_ca_pem: certificatesField('jwks_ca_pem'),
  jwks_pairs: field.objectList({
    description: 'Several key sets: objects with jwks_url and jwks_ca_pem.',
    default: [],
    maxLength: MAX_PEM_LENGTH,
    check: (pairs) =>
      pairs.length > MAX_PAIRS ? `jwks_pairs has at most ${MAX_PAIRS} elements` : undefined,
  }),
  jwt_validation_pubkeys: publicKeysField('jwt_validation_pubkeys', 'Public keys in PEM.'),
  keelson_runs: field.bool({
    description:
      'Accept the tokens of the runs of this installation, each while its phase is at work, in place of keys of a provider.',
  }),
  jwt_supported_algs: field.commaList({
    description: `Algorithms of signatures that are accepted; all of ${SIGNATURE_ALGORITHMS.join(', ')} if not given.`,
    default: [],
    maxLength: 256,
    check: (algorithms) => {
      const other = algorithms.find((given) => !SIGNATURE_ALGORITHMS.some((one) => one === given));
      return other === undefined
        ? undefined
        : `invalid jwt_supported_algs: unsupported signing algorithm "${other}"`;
    },
  }),
  bound_issuer: field.string({
    description: 'Issuer that tokens must name (iss); that of oidc_discovery_url if not given.',
    default: '',
    maxLength: 2048,
  }),
  default_role: field.string({
    description: 'Role of a login that names none.',
    default: '',
    maxLength: 256,
  }),
} as const;

const toPair = (text: string): JwtConfig['jwksPairs'][number] => {
  let pair: unknown;
  try {
    pair = parseJson(Buffer.from(text), PAIR_LIMITS);
  } catch {
    pair = undefined;
  }
  if (typeof pair !== 'object' || pair === null)
    throw new KeelsonError('request.invalid', { text: 'jwks_pairs must be a list of objects' });
  const given = pair as JsonObject;
  const url = PAIR_FIELDS.jwks_url.read('jwks_url', given['jwks_url']);
  if (url === '')
    throw new KeelsonError('request.invalid', { text: 'each of jwks_pairs needs a jwks_url' });
  return { url, caPem: PAIR_FIELDS.jwks_ca_pem.read('jwks_ca_pem', given['jwks_ca_pem']) };
};

const keySet = (url: string, caPem: string): JwtConfig['jwks'] =>
  url === '' ? undefined : { url, caPem };

const toConfig = (given: FieldValues<typeof CONFIG_FIELDS>): Omit<JwtConfig, 'stateKey'> => ({
  validationPubkeys: [...given.jwt_validation_pubkeys],
  jwks: keySet(given.jwks_url, given.jwks_ca_pem),
  jwksPairs: given.jwks_pairs.map(toPair),
  oidcDiscovery: keySet(given.oidc_discovery_url, given.oidc_discovery_ca_pem),
  ...(given.keelson_runs && { acceptsOwnRuns: true as const }),
  supportedAlgs: [...given.jwt_supported_algs],
  boundIssuer: given.bound_issuer,
  defaultRole: given.default_role.toLowerCase(),
  oidcClientId: given.oidc_client_id,
  oidcClientSecret: given.oidc_client_secret,
  postsForm: given.oidc_response_mode === 'form_post',
  bringsToken: given.oidc_response_types.includes('id_token'),
});

const configDocument = (config: JwtConfig): JsonObject => ({
  oidc_discovery_url: config.oidcDiscovery?.url ?? '',
  oidc_discovery_ca_pem: config.oidcDiscovery?.caPem ?? '',
  oidc_client_id: config.oidcClientId,
  oidc_response_mode: config.postsForm ? 'form_post' : '',
  oidc_response_types: config.bringsToken ? ['id_token'] : [],
  jwks_url: config.jwks?.url ?? '',
  jwks_ca_pem: config.jwks?.caPem ?? '',
  jwks_pairs: config.jwksPairs.map(({ url, caPem }) => ({ jwks_url: url, jwks_ca_pem: caPem })),
  jwt_validation_pubkeys: config.validationPubkeys,
  jwt_supported_algs: config.supportedAlgs,
  bound_issuer: config.boundIssuer,
  default_role: config.defaultRole,
  ...(config.acceptsOwnRuns === true && { keelson_runs: true }),
});

export const configRoutes = (context: JwtContext): Route[] =>
  secretsRoutes({
    path: '/jwt/config',
    tag: 'jwt',
    hasSettings: true,
    fields: CONFIG_FIELDS,
    operations: {
      read: {
        summary: 'Read whose tokens the mount accepts',
        handle: async (request) => {
          const config = await findConfig(context.store, requireMount(request));
          return config && { data: configDocument(config) };
        },
      },
      update: {
        summary: 'Set whose tokens the mount accepts; all parameters are replaced',
        handle: async (request) => {
          const config = toConfig(request.fields);
          await replaceConfig(context, requireMount(request), config);
          const { jwks, jwksPairs, oidcDiscovery } = config;
          const sources = [jwks, ...jwksPairs, oidcDiscovery];
          if (sources.some((source) => source?.url.startsWith('http:')))
            request.warnings.push(
              'The keys are fetched without TLS: whoever can change the connection can sign in.',
            );
          return undefined;
        },
      },
    },
  });
