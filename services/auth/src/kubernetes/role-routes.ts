/** `role`: which service accounts may sign in, and what the login has. */
import type { Route } from '@keelson/edge';
import { type FieldValues, field, type JsonObject } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { namedRoutes } from '../logins/named-routes.ts';
import {
  changedTokenSettings,
  OLDER_TOKEN_FIELDS,
  olderTokenDocument,
  TOKEN_FIELDS,
  tokenSettingsDocument,
} from '../logins/token-fields.ts';
import {
  ALIAS_NAME_SOURCES,
  type KubernetesRole,
  NEW_KUBERNETES_ROLE,
  requireSoundRole,
} from './domain/kubernetes-role.ts';
import { parseSelector } from './domain/namespace-selector.ts';
import { roleRecords } from './kubernetes-records.ts';

const TAG = 'kubernetes';
const LIST = { maxLength: 16_384 } as const;

const ROLE_FIELDS = {
  bound_service_account_names: field.commaList({
    description: 'Names of service accounts, in which * is any text.',
    ...LIST,
  }),
  bound_service_account_namespaces: field.commaList({
    description: 'Namespaces of these service accounts, in which * is any text.',
    ...LIST,
  }),
  bound_service_account_namespace_selector: field.string({
    description:
      'Label selector in JSON (matchLabels, matchExpressions) of further namespaces, whose labels the API server is asked for.',
    maxLength: LIST.maxLength,
    check: (selector) =>
      selector === '' || parseSelector(selector) !== undefined
        ? undefined
        : 'bound_service_account_namespace_selector must be a label selector in JSON',
  }),
  audience: field.string({
    description:
      'The token must be for this audience (aud); for that of the API server if not given.',
    maxLength: 2048,
  }),
  alias_name_source: field.string({
    description: `What names the entity: "serviceaccount_uid" (default), or "serviceaccount_name", which is namespace/name.`,
    maxLength: 32,
    check: (given) =>
      ALIAS_NAME_SOURCES.some((source) => source === given)
        ? undefined
        : `invalid alias_name_source "${given}", must be one of: ${ALIAS_NAME_SOURCES.join(', ')}`,
  }),
  ...TOKEN_FIELDS,
  ...OLDER_TOKEN_FIELDS,
} as const;

type Given = FieldValues<typeof ROLE_FIELDS>;

const roleDocument = (role: KubernetesRole): JsonObject => ({
  bound_service_account_names: role.accountNames,
  bound_service_account_namespaces: role.accountNamespaces,
  bound_service_account_namespace_selector: role.namespaceSelector,
  audience: role.audience,
  alias_name_source: role.aliasNameSource,
  ...tokenSettingsDocument(role.token),
  ...olderTokenDocument(role.token),
});

const withSettings =
  (given: Given) =>
  (role: KubernetesRole): KubernetesRole => ({
    accountNames: [...(given.bound_service_account_names ?? role.accountNames)],
    accountNamespaces: [...(given.bound_service_account_namespaces ?? role.accountNamespaces)],
    namespaceSelector: given.bound_service_account_namespace_selector ?? role.namespaceSelector,
    audience: given.audience ?? role.audience,
    aliasNameSource:
      ALIAS_NAME_SOURCES.find((source) => source === given.alias_name_source) ??
      role.aliasNameSource,
    token: changedTokenSettings(role.token, given),
  });

const warningsAbout = ({ accountNames, accountNamespaces, audience }: KubernetesRole): string[] => [
  ...(audience === ''
    ? ['The role has no audience: a token that a pod sends to another service signs in as well.']
    : []),
  ...(accountNames.includes('*') && accountNamespaces.includes('*')
    ? ['Every service account of the cluster can sign in with the role.']
    : []),
];

export const roleRoutes = (store: Store): Route[] =>
  namedRoutes({
    path: '/kubernetes/role',
    tag: TAG,
    noun: 'role',
    deletion: 'tokens of its logins can no longer be renewed',
    store,
    recordsAt: roleRecords,
    fields: ROLE_FIELDS,
    change: (before, given) => requireSoundRole(withSettings(given)(before ?? NEW_KUBERNETES_ROLE)),
    document: roleDocument,
    warningsAbout,
  });
