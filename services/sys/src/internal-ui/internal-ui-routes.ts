import type { Route } from '@keelson/edge';
import { field, secretsRoutes, topLevel } from '@keelson/secrets-api';
import {
  resultantAclDocument,
  servingMountDocument,
  specificationDocument,
  visibleMountsDocument,
} from './internal-ui-document.ts';
import {
  combineRights,
  type InternalUiContext,
  listReachedNamespaces,
  listVisibleMounts,
  requireServingMount,
} from './internal-ui-operations.ts';

const part = { type: 'object', additionalProperties: true } as const;
const OPENAPI_MEMBERS = {
  openapi: { type: 'string' },
  info: part,
  servers: { type: 'array', items: part },
  security: { type: 'array', items: part },
  tags: { type: 'array', items: part },
  paths: part,
  components: part,
} as const;

/** The OpenAPI document of `/v1` at the path where existing tools request it. */
const specificationRoutes = (context: InternalUiContext): Route[] =>
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
        answer: { document: OPENAPI_MEMBERS },
        // The gateway, which knows the operations of every engine, makes the document from this.
        handle: async ({ namespace, caller, fields }) => {
          const secret = await listVisibleMounts(context, namespace, caller, 'secret');
          const auth = await listVisibleMounts(context, namespace, caller, 'auth');
          return topLevel(specificationDocument([...secret, ...auth], fields.generic_mount_paths));
        },
      },
    },
  });

const text = { type: 'string' } as const;
const RECENT_REQUEST = {
  type: 'object',
  properties: {
    time: text,
    operation: text,
    namespace: text,
    path: text,
    status: { type: 'integer' },
    display_name: text,
    remote_address: text,
  },
} as const;

/** The newest requests that audit devices have recorded. */
const recentRequestRoutes = (): Route[] =>
  secretsRoutes({
    path: '/sys/internal/ui/recent-requests',
    tag: 'console',
    fields: {},
    operations: {
      read: {
        summary:
          'The newest requests that the answering gateway has recorded since its start, newest first.',
        answer: { data: { requests: { type: 'array', items: RECENT_REQUEST } } },
        // The gateway, which records them, replaces the list.
        handle: () => Promise.resolve({ data: { requests: [] } }),
      },
    },
  });

/** `sys/internal/ui`: what the console requests before it knows the rights of the user. */
export const internalUiRoutes = (context: InternalUiContext): Route[] => [
  ...secretsRoutes({
    path: '/sys/internal/ui/mounts',
    tag: 'console',
    fields: {},
    operations: {
      read: {
        summary: 'Mounts the caller can reach, and those visible to everyone.',
        handle: async ({ namespace, caller }) => {
          const auth = await listVisibleMounts(context, namespace, caller, 'auth');
          const secret = await listVisibleMounts(context, namespace, caller, 'secret');
          return {
            data: { auth: visibleMountsDocument(auth), secret: visibleMountsDocument(secret) },
          };
        },
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
        handle: async ({ namespace, caller, fields }) => ({
          data: servingMountDocument(
            await requireServingMount(context, namespace, caller, fields.path),
          ),
        }),
      },
    },
  }),
  ...specificationRoutes(context),
  ...recentRequestRoutes(),
  ...secretsRoutes({
    path: '/sys/internal/ui/feature-flags',
    tag: 'console',
    fields: {},
    operations: {
      read: {
        summary: 'Features that the console of the vendor asks for; there are none here.',
        answer: { document: { feature_flags: { type: 'array', items: { type: 'string' } } } },
        handle: () => topLevel({ feature_flags: [] }),
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/internal/ui/namespaces',
    tag: 'console',
    fields: {},
    operations: {
      read: {
        summary: 'Namespaces below the present one that the caller can reach.',
        handle: async ({ namespace, caller }) => ({
          data: { keys: await listReachedNamespaces(context, namespace, caller) },
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/internal/ui/resultant-acl',
    tag: 'console',
    fields: {},
    operations: {
      read: {
        summary: 'Show the effective permissions of the calling token, path by path.',
        handle: async ({ caller }) => ({
          data: resultantAclDocument(await combineRights(context, caller)),
        }),
      },
    },
  }),
];
