/** Logins at the mounts of a method that the test stands for. */
import type { AuthMethodsDefinition } from '@keelson/proto/auth/v1/methods';
import type { LoginLimits, LoginRequest } from '@keelson/proto/sys/v1/logins';
import type { RpcService } from '@keelson/rpc';
import { stubService } from '@keelson/testkit';
import type { Document, SysHarness } from './sys-harness.ts';

/** Announces the method "people" as the service of auth methods does. */
export const joinMethod = async ({ sys }: SysHarness): Promise<void> => {
  const states = sys.cluster.join({
    service: 'auth',
    instanceId: 'one',
    version: '1',
    storeId: '',
    engines: ['people', 'approle'].map((type) => ({
      type,
      unauthenticatedPaths: ['login'],
      rootPaths: [],
    })),
  });
  for await (const state of states) if (!state.sealed) return;
};

/** Mounts the method. */
export const mountMethod = async (
  harness: SysHarness,
  path: string,
  { namespace = '', local = false, type = 'people' } = {},
): Promise<{ readonly uuid: string; readonly accessor: string }> => {
  const at = `sys/auth/${path}`;
  await harness.asRoot('POST', at, { namespace, body: { type, local } });
  return (await harness.asRoot('GET', at, { namespace })).body.data;
};

const LIMITS: LoginLimits = {
  policies: ['own'],
  noDefaultPolicy: false,
  ttlSeconds: 600,
  maxTtlSeconds: 0,
  explicitMaxTtlSeconds: 0,
  periodSeconds: 0,
  numUses: 0,
  tokenType: 'default',
  boundCidrs: [],
};

/**
 * The method, for the second half of its logins: the limits are those of the first half, whose login data names the
 * type of the token.
 */
export const servedMethods = stubService<RpcService<typeof AuthMethodsDefinition>>({
  renewLogin: ({ loginData }) => {
    const { tokenType = 'default' } = JSON.parse(String(loginData)) as { tokenType?: string };
    return Promise.resolve({ limits: { ...LIMITS, tokenType }, groups: undefined });
  },
});

export interface LoginVariant extends Omit<Partial<LoginRequest>, 'limits'> {
  readonly limits?: Partial<LoginLimits> | undefined;
}

/** A login of Alice, whose token has the policy `own`. */
export const loginRequest = (
  mountUuid: string,
  { limits, ...given }: LoginVariant = {},
): LoginRequest => ({
  mountUuid,
  requestPath: 'login',
  displayName: 'alice',
  metadata: {},
  limits: { ...LIMITS, ...limits },
  loginData: Buffer.from('{}'),
  remoteAddress: '127.0.0.1',
  aliasName: 'alice',
  aliasMetadata: {},
  groupAliases: [],
  passcodes: [],
  role: '',
  ...given,
});

/** The `auth` block of a login. */
export const logIn = async (
  { sys }: SysHarness,
  mountUuid: string,
  given: LoginVariant = {},
): Promise<Document> =>
  JSON.parse((await sys.logins.login(loginRequest(mountUuid, given))).authJson);
