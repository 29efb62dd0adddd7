/** Which service account a token proves: what the token says, and what the API server says of the token. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import { type Claims, memberOf } from '../providers/domain/claims.ts';
import { SIGNATURE_ALGORITHMS } from '../providers/domain/verification-keys.ts';
import { fixedKeysOf } from '../providers/fixed-keys.ts';
import {
  type Ask,
  ProviderFailure,
  type ProviderRequests,
} from '../providers/provider-requests.ts';
import { readUnverifiedClaims, verifySignature } from '../providers/signed-token.ts';
import type { RequestsUnderWay } from '../providers/under-way.ts';
import {
  issuerOf,
  type KubernetesConfig,
  type PodFiles,
  reviewAccess,
} from './domain/kubernetes-config.ts';
import { bindingOf, type KubernetesRole, selectsNamespace } from './domain/kubernetes-role.ts';
import {
  accountIn,
  isForAudience,
  reviewComplaint,
  type ServiceAccount,
} from './domain/service-account.ts';

export interface AuthenticationContext {
  readonly requests: ProviderRequests;
  readonly underWay: RequestsUnderWay;
  readonly logger: Logger;
  /** Where a pod finds the token of its own account. */
  readonly podFolder: string;
}

interface LoginTarget {
  readonly config: KubernetesConfig;
  readonly role: KubernetesRole;
}

/** Why a login was refused, for the log: the answer does not tell which accounts a role has. */
class LoginRefusal extends Error {}

const refuse = (reason: string): never => {
  throw new LoginRefusal(reason);
};

/** Read for each login, because tokens of pods are replaced before they expire. */
const readPodFiles = async (folder: string): Promise<PodFiles | undefined> => {
  try {
    const [caPem, token] = await Promise.all(
      ['ca.crt', 'token'].map((name) => readFile(join(folder, name), 'utf8')),
    );
    return { caPem: caPem ?? '', token: token?.trim() ?? '' };
  } catch {
    // The service does not run in a pod, or in one without a token.
    return undefined;
  }
};

const readClaims = async ({ pemKeys }: KubernetesConfig, jwt: string): Promise<Claims> => {
  const keys = fixedKeysOf(pemKeys);
  try {
    const unverified = readUnverifiedClaims(jwt);
    if (keys.length === 0) return unverified;
    return await verifySignature(jwt, SIGNATURE_ALGORITHMS, () =>
      Promise.resolve({ keys, areComplete: true }),
    );
  } catch (error) {
    return error instanceof KeelsonError ? refuse(error.message) : Promise.reject(error);
  }
};

/** The account that the token names, unless it could not sign in, so that the API server need not be asked. */
const readAccount = async ({ config, role }: LoginTarget, jwt: string): Promise<ServiceAccount> => {
  const claims = await readClaims(config, jwt);
  const account = accountIn(claims) ?? refuse('the token is not one of a service account');
  const issuer = issuerOf(config);
  if (issuer !== undefined && memberOf(claims, 'iss') !== issuer)
    refuse('the token is of another issuer');
  if (!isForAudience(claims, role.audience)) refuse('the token is for another audience');
  return bindingOf(role, account) === 'unbound'
    ? refuse('the role is not for this service account')
    : account;
};

/** Asks the API server whether the token is of the account, and the account's namespace one of the role. */
const confirm = async (
  { requests, underWay, podFolder }: AuthenticationContext,
  mount: MountScope,
  { config, role }: LoginTarget,
  { jwt, account }: { readonly jwt: string; readonly account: ServiceAccount },
): Promise<void> => {
  const { server, caPem, bearer } = reviewAccess(config, await readPodFiles(podFolder), jwt);
  const { audience } = role;
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: jwt, ...(audience !== '' && { audiences: [audience] }) },
  };
  const talk = async (ask: Ask): Promise<void> => {
    const url = `${server}/apis/authentication.k8s.io/v1/tokenreviews`;
    const complaint = reviewComplaint(await ask(url, { bearer, body }), account, audience);
    if (complaint !== undefined) refuse(complaint);
    if (bindingOf(role, account) === 'bound') return;
    const namespace = await ask(`${server}/api/v1/namespaces/${account.namespace}`, { bearer });
    if (!selectsNamespace(role, memberOf(memberOf(namespace, 'metadata'), 'labels')))
      refuse('the role does not select the namespace');
  };
  await underWay.send(mount, () => requests.converse(caPem, talk));
};

/**
 * The service account that a token proves.
 * @throws KeelsonError `sys.permission_denied` for a token that does not sign in with the role; `request.invalid` when
 *   the API server has not answered; `request.rate_limited` when too many answers are outstanding
 */
export const authenticate = async (
  context: AuthenticationContext,
  mount: MountScope,
  target: LoginTarget,
  jwt: string,
): Promise<ServiceAccount> => {
  const { logger } = context;
  try {
    const account = await readAccount(target, jwt);
    await confirm(context, mount, target, { jwt, account });
    return account;
  } catch (error) {
    if (error instanceof LoginRefusal) {
      logger.info({ reason: error.message, mount: mount.uuid }, 'a service account was refused');
      throw new KeelsonError('sys.permission_denied');
    }
    if (!(error instanceof ProviderFailure)) throw error;
    logger.warn({ reason: error.message, mount: mount.uuid }, 'a token was not reviewed');
    // The token that asks is not valid, or may not ask.
    if (error.status === 401 || error.status === 403)
      throw new KeelsonError('sys.permission_denied');
    throw new KeelsonError('request.invalid', {
      text: 'the API server of Kubernetes cannot be asked at the moment',
    });
  }
};
