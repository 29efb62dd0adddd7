/** Users that failed logins have locked. The service of auth methods counts the failures. */
import { KeelsonError } from '@keelson/errors';
import type { AuthMethodsDefinition } from '@keelson/proto/auth/v1/methods';
import type { Mount, Namespace } from '@keelson/proto/edge/v1/edge';
import type { RpcService } from '@keelson/rpc';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { locksUsers } from '../mounts/domain/user-lockout.ts';
import { contains, type NamespaceTable } from '../namespaces/domain/namespace-table.ts';

export interface LockedUserContext {
  readonly mounts: () => Promise<MountIndex>;
  readonly namespaces: () => Promise<NamespaceTable>;
  /** The mount with this uuid, as its method knows it. */
  readonly findMount: (uuid: string) => Promise<Mount | undefined>;
  readonly methods: RpcService<typeof AuthMethodsDefinition> | undefined;
}

export interface LockedUsersOfMount {
  readonly accessor: string;
  readonly aliasNames: readonly string[];
}

export interface LockedUsersOfNamespace {
  readonly namespace: Pick<Namespace, 'id' | 'path'>;
  readonly mounts: readonly LockedUsersOfMount[];
}

const lockedAt = async (
  { findMount, methods }: LockedUserContext,
  { uuid, accessor }: MountRecord,
): Promise<LockedUsersOfMount> => {
  const mount = await findMount(uuid);
  if (mount === undefined || methods === undefined) return { accessor, aliasNames: [] };
  const { aliasNames } = await methods.listLockedUsers({ mount });
  return { accessor, aliasNames };
};

const mountsWithUsers = (index: MountIndex, namespaceId: string): readonly MountRecord[] =>
  index.of(namespaceId, 'auth').filter(({ type }) => locksUsers(type));

const requireAccessor = (index: MountIndex, namespaceId: string, accessor: string): MountRecord => {
  const mount = mountsWithUsers(index, namespaceId).find((one) => one.accessor === accessor);
  if (mount === undefined)
    throw new KeelsonError('request.invalid', {
      text: 'mount_accessor must be that of a mount of userpass, ldap or approle in this namespace',
    });
  return mount;
};

const countOf = ({ mounts }: LockedUsersOfNamespace): number =>
  mounts.reduce((sum, { aliasNames }) => sum + aliasNames.length, 0);

/**
 * The locked users of a namespace and of all namespaces below it; the namespace with most of them is first.
 * @param accessor "" for all mounts
 * @throws KeelsonError `request.invalid` for an accessor of no mount in the namespace
 */
export const listLockedUsers = async (
  context: LockedUserContext,
  namespace: Pick<Namespace, 'id' | 'path'>,
  accessor: string,
): Promise<readonly LockedUsersOfNamespace[]> => {
  const index = await context.mounts();
  if (accessor !== '') {
    const mount = requireAccessor(index, namespace.id, accessor);
    return [{ namespace, mounts: [await lockedAt(context, mount)] }];
  }
  const listed: LockedUsersOfNamespace[] = [];
  for (const { id, path } of (await context.namespaces()).all()) {
    if (!contains(namespace, { path })) continue;
    const mounts: LockedUsersOfMount[] = [];
    for (const mount of mountsWithUsers(index, id)) {
      const locked = await lockedAt(context, mount);
      if (locked.aliasNames.length > 0) mounts.push(locked);
    }
    const most = mounts.toSorted((a, b) => b.aliasNames.length - a.aliasNames.length);
    if (most.length > 0) listed.push({ namespace: { id, path }, mounts: most });
  }
  return listed.toSorted((a, b) => countOf(b) - countOf(a));
};

/** Succeeds also for a user that is not locked. @throws KeelsonError `request.invalid` */
export const unlockUser = async (
  context: LockedUserContext,
  namespaceId: string,
  accessor: string,
  aliasName: string,
): Promise<void> => {
  const { uuid } = requireAccessor(await context.mounts(), namespaceId, accessor);
  const mount = await context.findMount(uuid);
  if (mount !== undefined) await context.methods?.unlockUser({ mount, aliasName });
};
