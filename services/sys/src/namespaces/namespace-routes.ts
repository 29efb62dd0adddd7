import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { field, isJsonObject, mergePatchObject, secretsRoutes } from '@keelson/secrets-api';
import type { NamespaceRecord } from './domain/namespace.ts';
import {
  changeNamespaceMetadata,
  findNamespace,
  listChildNamespaces,
  lockNamespace,
  type NamespaceContext,
  removeNamespace,
  unlockNamespace,
  writeNamespace,
} from './namespace-operations.ts';

const path = field.string({
  description: 'Path of the namespace, relative to the caller’s.',
  required: true,
});
const customMetadata = field.stringMap({
  description: 'Metadata of the namespace, text by text: returned only.',
});

const document = (namespace: NamespaceRecord) => ({
  id: namespace.id,
  path: namespace.path,
  custom_metadata: namespace.customMetadata,
});

/** A merge patch may remove keys; the values it sets must be text. */
const patchMetadata =
  (patch: unknown) =>
  (before: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
    if (patch === undefined) return before;
    if (patch === null) return {};
    if (
      !isJsonObject(patch) ||
      Object.values(patch).some((v) => v !== null && typeof v !== 'string')
    )
      throw new KeelsonError('request.invalid', {
        text: 'Field validation failed: error converting input for field "custom_metadata": expected an object of strings',
      });
    return mergePatchObject(before, patch) as Readonly<Record<string, string>>;
  };

const recordRoutes = (context: NamespaceContext): Route[] => [
  ...secretsRoutes({
    path: '/sys/namespaces',
    tag: 'namespaces',
    fields: {},
    operations: {
      list: {
        summary: 'List the namespaces directly below the caller’s.',
        handle: async ({ namespace }) => {
          const children = await listChildNamespaces(context, namespace.path);
          const named = children.map(
            (child) => [child.path.slice(namespace.path.length), child] as const,
          );
          return {
            data: {
              keys: named.map(([name]) => name),
              key_info: Object.fromEntries(named.map(([name, child]) => [name, document(child)])),
            },
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/namespaces/*',
    tag: 'namespaces',
    fields: { path, custom_metadata: customMetadata },
    hasSettings: true,
    operations: {
      read: {
        summary: 'Read a namespace.',
        handle: async ({ fields, namespace }) => {
          const found = await findNamespace(context, namespace.path, fields.path);
          return found && { data: document(found) };
        },
      },
      update: {
        summary: 'Create a namespace, or replace the metadata of one.',
        handle: async ({ fields, namespace }) => ({
          data: document(
            await writeNamespace(context, namespace.path, fields.path, fields.custom_metadata),
          ),
        }),
      },
      delete: {
        summary: 'Delete a namespace that has no children, with everything in it.',
        // The fork's command line expects a body.
        handle: async ({ fields, namespace }) =>
          (await removeNamespace(context, namespace.path, fields.path))
            ? { data: { status: 'deleted' } }
            : { data: null, warnings: ['requested namespace does not exist'] },
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/namespaces/*',
    tag: 'namespaces',
    fields: {
      path,
      custom_metadata: field.map({
        description: 'Merge patch of the metadata, which is returned only; null removes.',
      }),
    },
    operations: {
      patch: {
        summary: 'Change the metadata of a namespace.',
        handle: async ({ params, data, namespace }) => {
          const changed = await changeNamespaceMetadata(
            context,
            namespace.path,
            params['path'] ?? '',
            patchMetadata(data['custom_metadata']),
          );
          if (changed === undefined)
            throw new KeelsonError('request.not_found', { text: 'no namespace at this path' });
          return { data: document(changed) };
        },
      },
    },
  }),
];

const lockRoutes = (context: NamespaceContext): Route[] => [
  ...['/sys/namespaces/api-lock/lock', '/sys/namespaces/api-lock/lock/*'].flatMap((route) =>
    secretsRoutes({
      path: route,
      tag: 'namespaces',
      fields: {
        path: field.string({
          description: 'Namespace to lock; the caller’s when absent.',
          default: '',
        }),
      },
      operations: {
        update: {
          summary: 'Lock the API of a namespace and of all below it.',
          handle: async ({ fields, namespace }) => ({
            data: { unlock_key: await lockNamespace(context, namespace.path, fields.path) },
          }),
        },
      },
    }),
  ),
  ...['/sys/namespaces/api-lock/unlock', '/sys/namespaces/api-lock/unlock/*'].flatMap((route) =>
    secretsRoutes({
      path: route,
      tag: 'namespaces',
      fields: {
        path: field.string({
          description: 'Namespace to unlock; the caller’s when absent.',
          default: '',
        }),
        unlock_key: field.string({
          description: 'Key that locking returned; not needed by a root token.',
        }),
      },
      operations: {
        update: {
          summary: 'Unlock the API of a namespace.',
          handle: async ({ fields, namespace, caller }) => {
            if (fields.unlock_key === undefined && caller?.root !== true)
              throw new KeelsonError('request.invalid', { text: 'unlock_key must be supplied' });
            await unlockNamespace(context, namespace.path, fields.path, fields.unlock_key);
            return undefined;
          },
        },
      },
    }),
  ),
];

/** `sys/namespaces`. */
export const namespaceRoutes = (context: NamespaceContext): Route[] => [
  ...recordRoutes(context),
  ...lockRoutes(context),
];
