import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { Caller, Namespace } from '@keelson/proto/edge/v1/edge';
import { field, secretsRoutes, topLevel } from '@keelson/secrets-api';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { mountDocument } from '../mounts/mount-document.ts';
import { contains, type NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import type { PolicyBook } from '../policies/policy-book.ts';
import { resultantAclDocument } from '../policies/resultant-acl-document.ts';

export interface InternalUiDependencies {
  readonly mounts: () => Promise<MountIndex>;
  readonly namespaces: () => Promise<NamespaceTable>;
  readonly policies: () => Promise<PolicyBook>;
}

type Reaches = (path: string) => boolean;

const NOWHERE: Reaches = () => false;

const pathOf = ({ table, path }: MountRecord): string => (table === 'auth' ? `auth/${path}` : path);

/** The members of a visible mount that anonymous callers may see. */
const publicDocument = ({ type, description, options }: MountRecord) => ({
  type,
  description,
  options: Object.keys(options).length === 0 ? null : options,
});

/** The mounts and namespaces that a caller may see. */
const createVisibility = (dependencies: InternalUiDependencies) => {
  /** Whether the caller's policies grant anything at or below a path of `namespace`. */
  const reachOf = async (caller: Caller | undefined, namespace: Namespace): Promise<Reaches> => {
    const home = caller?.namespace ?? { id: 'root', path: '' };
    if (caller === undefined || !contains(home, namespace)) return NOWHERE;
    if (caller.root) return () => true;
    const acl = (await dependencies.policies()).aclFor(home.id, caller.policies);
    // Policy paths are relative to the namespace of the token.
    const below = namespace.path.slice(home.path.length);
    return (path) => acl.reachesBelow(below + path);
  };

  const visibleMounts = async (
    namespace: Namespace,
    caller: Caller | undefined,
    table: 'auth' | 'secret',
  ) => {
    const reaches = await reachOf(caller, namespace);
    return (await dependencies.mounts()).of(namespace.id, table).flatMap((mount) => {
      const isReached = reaches(pathOf(mount));
      return isReached || mount.config.listingVisibility === 'unauth' ? [{ mount, isReached }] : [];
    });
  };

  return { reachOf, visibleMounts };
};

/** The operations of `/v1` for tools that ask for them there. */
const specificationRoutes = ({ visibleMounts }: ReturnType<typeof createVisibility>): Route[] =>
  secretsRoutes({
    path: '/sys/internal/specs/openapi',
    tag: 'console',
    fields: {
      generic_mount_paths: field.bool({
        description: 'Whether paths have a parameter in place of the mounts.',
        default: false,
      }),
    },
    operations: {
      read: {
        summary: 'The operations at the mounts the caller can reach, as an OpenAPI 3.0 document.',
        // The gateway, which knows the operations of every engine, makes the document from this.
        handle: async ({ namespace, caller, fields }) => {
          const visible = [
            ...(await visibleMounts(namespace, caller, 'secret')),
            ...(await visibleMounts(namespace, caller, 'auth')),
          ];
          return topLevel({
            generic_mount_paths: fields.generic_mount_paths,
            mounts: visible.map(({ mount }) => ({ path: pathOf(mount), type: mount.type })),
          });
        },
      },
    },
  });

/** `sys/internal/ui`: what the console requests before it knows the rights of the user. */
export const internalUiRoutes = (dependencies: InternalUiDependencies): Route[] => {
  const visibility = createVisibility(dependencies);
  const { reachOf, visibleMounts } = visibility;

  const visibleDocuments = async (...asked: Parameters<typeof visibleMounts>) =>
    Object.fromEntries(
      (await visibleMounts(...asked)).map(({ mount, isReached }) => [
        mount.path,
        isReached ? mountDocument(mount) : publicDocument(mount),
      ]),
    );

  return [
    ...secretsRoutes({
      path: '/sys/internal/ui/mounts',
      tag: 'console',
      fields: {},
      operations: {
        read: {
          summary: 'Mounts the caller can reach, and those visible to everyone.',
          handle: async ({ namespace, caller }) => ({
            data: {
              auth: await visibleDocuments(namespace, caller, 'auth'),
              secret: await visibleDocuments(namespace, caller, 'secret'),
            },
          }),
        },
      },
    }),
    ...secretsRoutes({
      path: '/sys/internal/ui/mounts/*',
      tag: 'console',
      fields: { path: field.string({ description: 'Any path of the mount.', required: true }) },
      operations: {
        read: {
          summary: 'The mount that serves a path.',
          handle: async ({ namespace, caller, fields }) => {
            const given = `${fields.path.replace(/(?<!\/)\/+$/, '')}/`;
            const index = await dependencies.mounts();
            const mount = given.startsWith('auth/')
              ? index.findAt(namespace.id, 'auth', given.slice('auth/'.length))
              : index.findServing(namespace.id, given);
            const reaches = await reachOf(caller, namespace);
            // Missing and forbidden mounts get the same answer, so that paths cannot be probed.
            if (mount === undefined || !reaches(pathOf(mount)))
              throw new KeelsonError('sys.preflight_denied', { path: given });
            return { data: { ...mountDocument(mount), path: pathOf(mount) } };
          },
        },
      },
    }),
    ...specificationRoutes(visibility),
    ...secretsRoutes({
      path: '/sys/internal/ui/namespaces',
      tag: 'console',
      fields: {},
      operations: {
        read: {
          summary: 'Namespaces below the present one that the caller can reach.',
          handle: async ({ namespace, caller }) => {
            const reaches = await reachOf(caller, namespace);
            const children = (await dependencies.namespaces()).childrenOf(namespace);
            const names = children.map(({ path }) => path.slice(namespace.path.length));
            return { data: { keys: names.filter(reaches) } };
          },
        },
      },
    }),
    ...secretsRoutes({
      path: '/sys/internal/ui/resultant-acl',
      tag: 'console',
      fields: {},
      operations: {
        read: {
          summary: 'What the policies of the token of the request come to, path by path.',
          handle: async ({ caller }) => {
            if (caller === undefined) throw new KeelsonError('sys.permission_denied');
            if (caller.root) return { data: { root: true } };
            const { id, path } = caller.namespace ?? { id: 'root', path: '' };
            const acl = (await dependencies.policies()).aclFor(id, caller.policies);
            return { data: resultantAclDocument(acl, path) };
          },
        },
      },
    }),
  ];
};
