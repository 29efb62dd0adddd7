import { KeelsonError } from '@keelson/errors';
import type { Caller, Namespace } from '@keelson/proto/edge/v1/edge';
import { type MountRecord, mountPathOf } from '../mounts/domain/mount.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { contains, type NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import type { Acl } from '../policies/domain/acl.ts';
import type { PolicyIndex } from '../policies/policy-index.ts';
import type { TokenContext } from '../tokens/token-context.ts';
import { rightsOfCaller } from '../tokens/token-rights-operations.ts';

export interface InternalUiContext {
  readonly mounts: () => Promise<MountIndex>;
  readonly namespaces: () => Promise<NamespaceTable>;
  readonly policies: () => Promise<PolicyIndex>;
  readonly identityOf: TokenContext['identityOf'];
}

export interface VisibleMount {
  readonly mount: MountRecord;
  /** Whether the caller's policies reach the mount; false: everyone sees it. */
  readonly isReached: boolean;
}

type Reaches = (path: string) => boolean;

const NOWHERE: Reaches = () => false;

const homeOf = (caller: Caller): Namespace => caller.namespace ?? { id: 'root', path: '' };

const aclOfCaller = async (context: InternalUiContext, caller: Caller): Promise<Acl> => {
  const rights = await rightsOfCaller(context, caller);
  return (await context.policies()).aclOf(rights);
};

/** Whether the caller's policies grant anything at or below a path of `namespace`. */
const reachOf = async (
  context: InternalUiContext,
  caller: Caller | undefined,
  namespace: Namespace,
): Promise<Reaches> => {
  if (caller === undefined) return NOWHERE;
  const home = homeOf(caller);
  if (!contains(home, namespace)) return NOWHERE;
  if (caller.root) return () => true;
  const acl = await aclOfCaller(context, caller);
  // Policy paths are relative to the namespace of the token.
  const below = namespace.path.slice(home.path.length);
  return (path) => acl.reachesBelow(below + path);
};

/** The mounts of one table that the caller reaches, and those that everyone sees. */
export const listVisibleMounts = async (
  context: InternalUiContext,
  namespace: Namespace,
  caller: Caller | undefined,
  table: 'auth' | 'secret',
): Promise<readonly VisibleMount[]> => {
  const reaches = await reachOf(context, caller, namespace);
  return (await context.mounts())
    .of(namespace.id, table)
    .map((mount) => ({ mount, isReached: reaches(mountPathOf(mount)) }))
    .filter(({ mount, isReached }) => isReached || mount.config.listingVisibility === 'unauth');
};

/**
 * The mount that serves a path.
 * @throws KeelsonError `sys.preflight_denied` for missing and forbidden mounts alike, so that paths cannot be
 * probed
 */
export const requireServingMount = async (
  context: InternalUiContext,
  namespace: Namespace,
  caller: Caller | undefined,
  path: string,
): Promise<MountRecord> => {
  const given = `${path.replace(/(?<!\/)\/+$/, '')}/`;
  const index = await context.mounts();
  const mount = index.findServing(namespace.id, given);
  const reaches = await reachOf(context, caller, namespace);
  if (mount === undefined || !reaches(mountPathOf(mount)))
    throw new KeelsonError('sys.preflight_denied', { path: given });
  return mount;
};

/** Names of the namespaces directly below one that the caller reaches. */
export const listReachedNamespaces = async (
  context: InternalUiContext,
  namespace: Namespace,
  caller: Caller | undefined,
): Promise<readonly string[]> => {
  const reaches = await reachOf(context, caller, namespace);
  const children = (await context.namespaces()).childrenOf(namespace);
  return children.map(({ path }) => path.slice(namespace.path.length)).filter(reaches);
};

/** Rights of a token that is not a root token, and the namespace that their paths are relative to. */
export interface ResultantAcl {
  readonly acl: Acl;
  readonly namespacePath: string;
}

/**
 * The combined rights of all policies of a token; undefined for a root token.
 * @throws KeelsonError `sys.permission_denied` without a token
 */
export const combineRights = async (
  context: InternalUiContext,
  caller: Caller | undefined,
): Promise<ResultantAcl | undefined> => {
  if (caller === undefined) throw new KeelsonError('sys.permission_denied');
  if (caller.root) return undefined;
  return { acl: await aclOfCaller(context, caller), namespacePath: homeOf(caller).path };
};
