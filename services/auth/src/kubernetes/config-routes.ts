/** `config`: the cluster whose service accounts sign in. */
import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { type FieldValues, field, type JsonObject, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { certificatesField, publicKeysField, urlComplaint } from '../providers/provider-fields.ts';
import { MAX_TOKEN_LENGTH } from '../providers/signed-token.ts';
import type { KubernetesConfig } from './domain/kubernetes-config.ts';
import { configSetting } from './kubernetes-records.ts';

const hostComplaint = (text: string): string | undefined => {
  if (text === '') return 'no host provided';
  // Tokens are sent there, so that a connection that others can read is out of the question.
  const isSound =
    urlComplaint('')(text) === undefined && /^https:[^?#]*$/.test(text) && !/\s/.test(text);
  return isSound
    ? undefined
    : 'kubernetes_host must be an https URL without credentials, query and fragment';
};

const CONFIG_FIELDS = {
  kubernetes_host: field.string({
    description: 'URL of the API server, with https.',
    required: 'no host provided',
    maxLength: 2048,
    check: hostComplaint,
  }),
  kubernetes_ca_cert: certificatesField('kubernetes_ca_cert'),
  token_reviewer_jwt: field.string({
    description:
      'Token that may create TokenReviews, which is never shown; without it, the token that signs in asks about itself.',
    default: '',
    maxLength: MAX_TOKEN_LENGTH,
    check: (token) =>
      /^[\x21-\x7e]*$/.test(token.trim()) ? undefined : 'token_reviewer_jwt must be a token',
  }),
  pem_keys: publicKeysField(
    'pem_keys',
    'Public keys in PEM. If given, one of them must have signed the token before the API server is asked.',
  ),
  disable_local_ca_jwt: field.bool({
    description:
      'Do not take the certificates and the token of the pod in which the server runs where none are given.',
    default: false,
  }),
  disable_iss_validation: field.bool({
    description: 'Accept tokens of any issuer; the API server is asked about each of them.',
    default: true,
  }),
  issuer: field.string({
    description:
      'Issuer that tokens must name if disable_iss_validation is false; kubernetes/serviceaccount if not given.',
    default: '',
    maxLength: 2048,
  }),
  use_annotations_as_alias_metadata: field.bool({
    description: 'False only: the metadata of an alias comes from the token.',
    default: false,
    check: (isOn) =>
      isOn
        ? 'use_annotations_as_alias_metadata is not supported: annotations of service accounts are not read'
        : undefined,
  }),
} as const;

const toConfig = (given: FieldValues<typeof CONFIG_FIELDS>): KubernetesConfig => ({
  host: given.kubernetes_host,
  caPem: given.kubernetes_ca_cert,
  reviewerToken: given.token_reviewer_jwt.trim(),
  pemKeys: [...given.pem_keys],
  usesOwnPod: !given.disable_local_ca_jwt,
  checksIssuer: !given.disable_iss_validation,
  issuer: given.issuer,
});

const configDocument = (config: KubernetesConfig): JsonObject => ({
  kubernetes_host: config.host,
  kubernetes_ca_cert: config.caPem,
  token_reviewer_jwt_set: config.reviewerToken !== '',
  pem_keys: config.pemKeys,
  disable_local_ca_jwt: !config.usesOwnPod,
  disable_iss_validation: !config.checksIssuer,
  issuer: config.issuer,
  use_annotations_as_alias_metadata: false,
});

export const configRoutes = (store: Store): Route[] =>
  secretsRoutes({
    path: '/kubernetes/config',
    tag: 'kubernetes',
    hasSettings: true,
    fields: CONFIG_FIELDS,
    operations: {
      read: {
        summary: 'Read the cluster whose service accounts sign in',
        handle: async (request) => {
          const config = await configSetting(requireMount(request)).find(store);
          return config && { data: configDocument(config) };
        },
      },
      update: {
        summary: 'Set the cluster whose service accounts sign in; all parameters are replaced',
        handle: async (request) => {
          const mount = requireMount(request);
          const config = toConfig(request.fields);
          await store.transact((tx) => {
            configSetting(mount).write(tx, config);
            return Promise.resolve();
          });
          return undefined;
        },
      },
    },
  });
