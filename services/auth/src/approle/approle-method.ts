/** `approle`: machines sign in with a role id and a secret id. */
import type { Route } from '@keelson/edge';
import { boundByBoth } from '@keelson/edge/networks';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { field, secretsRoutes } from '@keelson/secrets-api';
import { isInBound } from '../logins/bound-networks.ts';
import { lockoutsAt } from '../logins/lockout-operations.ts';
import { answerLogin, type Logins } from '../logins/login-operations.ts';
import type { AuthMethod } from '../method.ts';
import { roleIdRecords, roleRecords } from './approle-records.ts';
import type { AppRole } from './domain/app-role.ts';
import type { SecretId } from './domain/secret-id.ts';
import { roleRoutes } from './role-routes.ts';
import { type AppRoleContext, takeSecretId, tidySecretIds } from './secret-id-operations.ts';
import { secretIdRoutes } from './secret-id-routes.ts';

interface AppRoleParts extends AppRoleContext {
  readonly logins: Logins;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** One text for every wrong pair, so that nobody learns which role ids exist. */
const refuseLogin = (): never => refuse('invalid role or secret ID');

const requireNetwork = (ranges: readonly string[], address: string): void => {
  if (!isInBound(ranges, address)) throw new KeelsonError('sys.permission_denied');
};

const loginRoutes = (parts: AppRoleParts): Route[] =>
  secretsRoutes({
    path: '/approle/login',
    tag: 'approle',
    fields: {
      role_id: field.string({
        description: 'Id of the role.',
        required: 'missing role_id',
        maxLength: 128,
      }),
      secret_id: field.string({
        description: 'A secret id of the role, unless the role needs none.',
        default: '',
        maxLength: 4096,
      }),
    },
    operations: {
      update: {
        summary: 'Sign in',
        handle: async (request) => {
          const { store } = parts;
          const mount = requireMount(request);
          const { role_id: roleId, secret_id: secretId } = request.fields;
          const address = request.head.remoteAddress;
          const verify = async () => {
            const found = await roleIdRecords(mount).find(store, roleId);
            const role = found && (await roleRecords(mount).find(store, found.name));
            if (secretId === '' && role?.bindSecretId !== false) refuse('missing secret_id');
            if (found === undefined || role === undefined) return undefined;
            requireNetwork(role.secretIdBoundCidrs, address);
            requireNetwork(role.token.boundCidrs, address);
            const proof = await prove(parts, mount, role, { secretId, address });
            return proof && { ...proof, name: found.name, role };
          };
          // A refusal would cost the login that has won a race for the last use of its secret id.
          const login = await lockoutsAt(parts, mount).verifyUnlessLocked(roleId, verify, {
            isRandom: true,
          });
          const { name, role, metadata: given, boundCidrs } = login ?? refuseLogin();
          const metadata = { ...given, role_name: name };
          return answerLogin(parts.logins, request, {
            displayName: '',
            metadata,
            alias: { name: roleId, metadata, groups: [] },
            settings: {
              ...role.token,
              boundCidrs: [...boundByBoth(role.token.boundCidrs, boundCidrs)],
            },
            role: name,
            data: { role: name },
          });
        },
      },
    },
  });

/** @returns what the secret id says about its tokens; undefined if it is not one of the role */
const prove = async (
  parts: AppRoleParts,
  mount: Parameters<typeof takeSecretId>[1],
  role: AppRole,
  { secretId, address }: { readonly secretId: string; readonly address: string },
): Promise<
  (Pick<SecretId, 'metadata'> & { readonly boundCidrs: readonly string[] }) | undefined
> => {
  if (!role.bindSecretId) return { metadata: {}, boundCidrs: [] };
  const judge = ({ cidrs, tokenBoundCidrs }: SecretId): void => {
    requireNetwork(cidrs, address);
    requireNetwork(tokenBoundCidrs, address);
  };
  const proof = await takeSecretId(parts, mount, role, secretId, judge);
  return proof && { metadata: proof.metadata, boundCidrs: proof.tokenBoundCidrs };
};

export const approleMethod = (parts: AppRoleParts): AuthMethod => ({
  type: 'approle',
  unauthenticatedPaths: ['login'],
  routes: [...loginRoutes(parts), ...roleRoutes(parts), ...secretIdRoutes(parts)],
  renew: async (mount, { role: name }) => {
    const role =
      typeof name === 'string' ? await roleRecords(mount).find(parts.store, name) : undefined;
    return role && { settings: role.token };
  },
  findLoginRole: async (mount, { path, parameters: { role_id: roleId } }) =>
    path === 'login' && typeof roleId === 'string'
      ? (await roleIdRecords(mount).find(parts.store, roleId))?.name
      : undefined,
  tidy: (mount) => tidySecretIds(parts, mount),
});
