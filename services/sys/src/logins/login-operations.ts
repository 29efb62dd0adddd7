/** Tokens of logins: an auth method has verified the credentials, and says what a login may have. */
import { createNetworks } from '@keelson/edge/networks';
import { KeelsonError } from '@keelson/errors';
import type { AuthMethodsDefinition } from '@keelson/proto/auth/v1/methods';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { LoginRequest } from '@keelson/proto/sys/v1/logins';
import type { RpcService } from '@keelson/rpc';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { findMissingPolicies } from '../policies/policy-operations.ts';
import type { TokenEntry } from '../tokens/domain/token-entry.ts';
import type { TokenTtls } from '../tokens/domain/token-lifetime.ts';
import type { RenewalLimits, TokenContext } from '../tokens/token-context.ts';
import { type IssuedToken, issueToken } from '../tokens/token-operations.ts';
import { decideLogin, decidePolicies, maxTtlOf } from './domain/login.ts';

export interface LoginContext {
  readonly tokens: TokenContext;
  readonly mounts: () => Promise<MountIndex>;
  /** The mount with this uuid, as its method knows it. */
  readonly findMount: (uuid: string) => Promise<Mount | undefined>;
}

const ttlsOf = ({ defaultLeaseTtlSeconds, maxLeaseTtlSeconds }: Mount): TokenTtls => ({
  defaultTtlSeconds: defaultLeaseTtlSeconds,
  maxTtlSeconds: maxLeaseTtlSeconds,
});

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const noMount = (): never => {
  throw new KeelsonError('request.not_found', { text: 'no such mount' });
};

/**
 * Makes the token of a login.
 * @throws KeelsonError `request.not_found` when the mount is gone; `sys.permission_denied` from an address outside of
 *   the bound networks; `request.invalid` when the limits contradict each other
 */
export const logIn = async (
  { tokens, mounts, findMount }: LoginContext,
  request: LoginRequest,
): Promise<IssuedToken & { readonly warnings: readonly string[] }> => {
  const { limits } = request;
  if (limits === undefined) return refuse('a login without limits');
  const mount = (await findMount(request.mountUuid)) ?? noMount();
  const record = (await mounts()).findByUuid(mount.uuid) ?? noMount();
  if (
    limits.boundCidrs.length > 0 &&
    !createNetworks(limits.boundCidrs).includes(request.remoteAddress)
  )
    throw new KeelsonError('sys.permission_denied');
  const nowMs = tokens.clock.nowMs();
  const namespace = mount.namespace ?? { id: 'root', path: '' };
  const { plan, warnings } = decideLogin(limits, {
    namespace: { id: namespace.id, path: namespace.path },
    mountPath: mount.path,
    requestPath: request.requestPath,
    displayName: request.displayName,
    metadata: request.metadata,
    login: { mountUuid: mount.uuid, dataBase64: request.loginData.toString('base64') },
    mountTokenType: record.config.tokenType,
    ttls: ttlsOf(mount),
    nowMs,
  });
  const missing = await findMissingPolicies(tokens.store, namespace.id, plan.policies);
  return {
    ...(await issueToken(tokens, plan)),
    warnings: [...warnings, ...missing.map((name) => `Policy "${name}" does not exist`)],
  };
};

/** The limits of a renewal: those that the method of the login says now, and those of its mount. */
export const createLoginRenewals =
  (
    findMount: LoginContext['findMount'],
    methods: RpcService<typeof AuthMethodsDefinition> | undefined,
  ) =>
  async ({ login, policies }: TokenEntry): Promise<RenewalLimits | undefined> => {
    if (login === undefined) return undefined;
    const mount = (await findMount(login.mountUuid)) ?? noMount();
    if (methods === undefined) return noMount();
    const { limits } = await methods.renewLogin({
      mount,
      loginData: Buffer.from(login.dataBase64, 'base64'),
    });
    if (limits === undefined) return refuse('lease is not renewable');
    if (decidePolicies(limits).join() !== policies.join())
      return refuse('policies have changed, not renewing');
    return {
      maxTtlSeconds: maxTtlOf(limits, ttlsOf(mount)),
      periodSeconds: limits.periodSeconds,
      ttlSeconds: limits.ttlSeconds || mount.defaultLeaseTtlSeconds,
    };
  };
