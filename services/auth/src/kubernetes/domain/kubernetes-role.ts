/** Roles: which service accounts may sign in, and what the login has. */

import { KeelsonError } from '@keelson/errors';
import { matchesGlob } from '@keelson/secrets-api/glob';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { DEFAULT_TOKEN_SETTINGS, tokenSettingsShape } from '../../logins/domain/token-settings.ts';
import { parseSelector, selects } from './namespace-selector.ts';
import type { ServiceAccount } from './service-account.ts';

export const ALIAS_NAME_SOURCES = ['serviceaccount_uid', 'serviceaccount_name'] as const;

export const kubernetesRoleShape = Type.Object({
  /** Patterns in which "*" is any text. */
  accountNames: Type.Array(Type.String()),
  accountNamespaces: Type.Array(Type.String()),
  /** Label selector in JSON, which names further namespaces; "" for none. */
  namespaceSelector: Type.String(),
  /** "" for the audience of the API server. */
  audience: Type.String(),
  aliasNameSource: Type.Enum(ALIAS_NAME_SOURCES),
  token: tokenSettingsShape,
});
export type KubernetesRole = Shaped<typeof kubernetesRoleShape>;

export const NEW_KUBERNETES_ROLE: KubernetesRole = {
  accountNames: [],
  accountNamespaces: [],
  namespaceSelector: '',
  audience: '',
  aliasNameSource: 'serviceaccount_uid',
  token: DEFAULT_TOKEN_SETTINGS,
};

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const requireSoundPatterns = (patterns: readonly string[]): void => {
  if (patterns.length > 1 && patterns.includes('*')) refuse(`can not mix "*" with values`);
};

/** @throws KeelsonError `request.invalid` for a role that no account could satisfy */
export const requireSoundRole = (role: KubernetesRole): KubernetesRole => {
  if (role.accountNames.length === 0) refuse('"bound_service_account_names" can not be empty');
  if (role.accountNamespaces.length === 0 && role.namespaceSelector === '')
    refuse(
      '"bound_service_account_namespaces" can not be empty if "bound_service_account_namespace_selector" is not set',
    );
  requireSoundPatterns(role.accountNames);
  requireSoundPatterns(role.accountNamespaces);
  return role;
};

const matchesOne = (patterns: readonly string[], text: string): boolean =>
  patterns.some((pattern) => matchesGlob(pattern, text));

/** Whether the labels of the account's namespace decide if it may sign in. */
export type Binding = 'bound' | 'by-labels' | 'unbound';

/** Whether an account may sign in with a role, as far as its names tell. */
export const bindingOf = (
  { accountNames, accountNamespaces, namespaceSelector }: KubernetesRole,
  { name, namespace }: Pick<ServiceAccount, 'name' | 'namespace'>,
): Binding => {
  if (!matchesOne(accountNames, name)) return 'unbound';
  if (matchesOne(accountNamespaces, namespace)) return 'bound';
  return namespaceSelector === '' ? 'unbound' : 'by-labels';
};

/** Whether the role selects a namespace with these labels. */
export const selectsNamespace = (
  { namespaceSelector }: KubernetesRole,
  labels: unknown,
): boolean => {
  const selector = parseSelector(namespaceSelector);
  return selector !== undefined && selects(selector, labels);
};

/** Another account that is created under the same name later has another uid, but the same name. */
export const aliasNameOf = (
  { aliasNameSource }: KubernetesRole,
  { uid, name, namespace }: ServiceAccount,
): string => (aliasNameSource === 'serviceaccount_uid' ? uid : `${namespace}/${name}`);
