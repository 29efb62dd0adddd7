/** `kubernetes`: pods and controllers sign in with the tokens of their service accounts. */
import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { AddressPolicy } from '@keelson/outbound/addresses';
import { field, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { answerLogin, type Logins, type VerifiedLogin } from '../logins/login-operations.ts';
import type { AuthMethod } from '../method.ts';
import { createProviderRequests } from '../providers/provider-requests.ts';
import { MAX_TOKEN_LENGTH } from '../providers/signed-token.ts';
import { RequestsUnderWay } from '../providers/under-way.ts';
import { type AuthenticationContext, authenticate } from './authentication-operations.ts';
import { configRoutes } from './config-routes.ts';
import { aliasNameOf, bindingOf, type KubernetesRole } from './domain/kubernetes-role.ts';
import type { ServiceAccount } from './domain/service-account.ts';
import { configSetting } from './kubernetes-records.ts';
import { findRole } from './role-operations.ts';
import { roleRoutes } from './role-routes.ts';

interface KubernetesParts {
  readonly store: Store;
  readonly logger: Logger;
  readonly logins: Logins;
  /** Says at which addresses API servers may be. */
  readonly outboundPolicy: AddressPolicy;
  /** Where the pod in which the service runs has the token of its account. */
  readonly podFolder: string;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const toLogin = (
  role: KubernetesRole,
  roleName: string,
  account: ServiceAccount,
): VerifiedLogin => {
  const { name, namespace, uid, secretName } = account;
  const metadata = {
    service_account_name: name,
    service_account_namespace: namespace,
    service_account_secret_name: secretName,
    service_account_uid: uid,
  };
  return {
    displayName: `${namespace}-${name}`,
    metadata: { ...metadata, role: roleName },
    alias: { name: aliasNameOf(role, account), metadata, groups: [] },
    settings: role.token,
    role: roleName,
    data: { role: roleName, name, namespace, selector: role.namespaceSelector },
  };
};

const loginRoutes = (
  { store, logins }: Pick<KubernetesParts, 'store' | 'logins'>,
  context: AuthenticationContext,
): Route[] =>
  secretsRoutes({
    path: '/kubernetes/login',
    tag: 'kubernetes',
    fields: {
      role: field.string({ description: 'Name of the role.', default: '', maxLength: 256 }),
      jwt: field.string({
        description: 'The token of the service account.',
        default: '',
        maxLength: MAX_TOKEN_LENGTH,
      }),
    },
    operations: {
      update: {
        summary: 'Sign in with the token of a service account',
        handle: async (request) => {
          const mount = requireMount(request);
          const { role: given, jwt } = request.fields;
          if (given === '') refuse('missing role');
          if (jwt === '') refuse('missing jwt');
          const role =
            (await findRole(store, mount, given)) ?? refuse(`invalid role name "${given}"`);
          const config =
            (await configSetting(mount).find(store)) ??
            refuse('could not load backend configuration');
          const account = await authenticate(context, mount, { config, role }, jwt);
          return answerLogin(logins, request, toLogin(role, given.toLowerCase(), account));
        },
      },
    },
  });

export const kubernetesMethod = (parts: KubernetesParts): AuthMethod => {
  const { store, logger, podFolder } = parts;
  const context: AuthenticationContext = {
    requests: createProviderRequests(parts.outboundPolicy),
    underWay: new RequestsUnderWay(),
    logger,
    podFolder,
  };
  return {
    type: 'kubernetes',
    unauthenticatedPaths: ['login'],
    routes: [...loginRoutes(parts, context), ...configRoutes(store), ...roleRoutes(store)],
    findLoginRole: async (mount, { path, parameters: { role } }) =>
      path === 'login' && typeof role === 'string' && (await findRole(store, mount, role))
        ? role
        : undefined,
    renew: async (mount, { role: roleName, name, namespace, selector }) => {
      if (typeof roleName !== 'string') return undefined;
      const role = await findRole(store, mount, roleName);
      const account = { name: String(name), namespace: String(namespace) };
      if (role === undefined) return undefined;
      const binding = bindingOf(role, account);
      // The labels of the namespace were compared with the selector that the role had then.
      const isGranted = binding === 'by-labels' && role.namespaceSelector === selector;
      return binding === 'bound' || isGranted ? { settings: role.token } : undefined;
    },
  };
};
