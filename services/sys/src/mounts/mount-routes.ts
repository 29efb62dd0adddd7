import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { field, mirrored, readFields, secretsRoutes } from '@keelson/secrets-api';
import type { LeaseTtls } from './domain/lease-ttl.ts';
import type { MountRecord, MountTable } from './domain/mount.ts';
import { findConflict, toMountPath } from './domain/mount-path.ts';
import { mountDocument, tuneDocument } from './mount-document.ts';
import {
  ENABLE_FIELDS,
  MOUNT_CONFIG_FIELDS,
  mountWarnings,
  TUNE_FIELDS,
  toMountConfig,
  toTuneMount,
} from './mount-fields.ts';
import type { MountOperations, MountSite } from './mount-operations.ts';

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** `sys/mounts/auth/token/tune` names a mount of the auth table. */
const toSite = (table: MountTable, namespaceId: string, path: string): MountSite =>
  table === 'secret' && path.startsWith('auth/')
    ? { namespaceId, table: 'auth', path: path.slice('auth/'.length) }
    : { namespaceId, table, path };

const TABLES = [
  {
    table: 'secret',
    base: '/sys/mounts',
    noun: 'secrets engine',
    absent: 'No secret engine mount at',
  },
  { table: 'auth', base: '/sys/auth', noun: 'auth method', absent: 'No auth engine at' },
] as const;

const tableRoutes = (
  { mounts, systemTtls, keptBackPaths }: MountRouteDependencies,
  { table, base, noun, absent }: (typeof TABLES)[number],
): Route[] => {
  const requireMount = async (namespaceId: string, path: string): Promise<MountRecord> =>
    (await mounts.find(toSite(table, namespaceId, path))) ??
    refuse(`${absent} ${toMountPath(path)}`);

  return [
    ...secretsRoutes({
      path: base,
      tag: 'mounts',
      fields: {},
      operations: {
        read: {
          summary: `List every ${noun} of the namespace.`,
          handle: async ({ namespace, warnings }) => {
            const listed = await mounts.list(namespace.id, table);
            for (const { mount, by } of await mounts.listHidden(namespace.id, table))
              warnings.push(
                `the mount of the primary at ${mount.path} is out of reach: the local mount ${by.path} takes its path`,
              );
            return mirrored(
              Object.fromEntries(listed.map((mount) => [mount.path, mountDocument(mount)])),
            );
          },
        },
      },
    }),
    ...secretsRoutes({
      path: `${base}/*`,
      tag: 'mounts',
      fields: ENABLE_FIELDS,
      operations: {
        read: {
          summary: `Read one ${noun}.`,
          handle: async ({ fields, namespace }) =>
            mirrored(mountDocument(await requireMount(namespace.id, fields.path))),
        },
        update: {
          summary: `Enable a ${noun}.`,
          handle: async ({ fields, namespace, warnings }) => {
            const type = fields.type || (fields.plugin_name ?? '');
            if (type === '') refuse('backend type must be specified as a string');
            const path = toMountPath(fields.path);
            const config = toMountConfig(readFields(MOUNT_CONFIG_FIELDS, fields.config));
            const keptBack = fields.local ? await keptBackPaths() : [];
            const hidden = findConflict(`${namespace.path}${path}`, keptBack);
            await mounts.enable(
              { namespaceId: namespace.id, table, path },
              {
                type,
                description: fields.description,
                local: fields.local,
                options: fields.options,
                config,
              },
            );
            warnings.push(...mountWarnings(config));
            if (hidden !== undefined)
              warnings.push(
                `the primary has a mount at ${hidden}, which a paths filter keeps from this cluster; it stays out of reach here while this mount is there, with or without the filter`,
              );
            return undefined;
          },
        },
        delete: {
          summary: `Disable a ${noun}: its leases end, its data is removed.`,
          handle: async ({ fields, namespace }) => {
            await mounts.disable({ namespaceId: namespace.id, table, path: fields.path });
            return undefined;
          },
        },
      },
    }),
    ...secretsRoutes({
      path: `${base}/*/tune`,
      tag: 'mounts',
      fields: TUNE_FIELDS,
      operations: {
        read: {
          summary: 'Read the tuning in force.',
          handle: async ({ fields, namespace }) =>
            mirrored(tuneDocument(await requireMount(namespace.id, fields.path), systemTtls)),
        },
        update: {
          summary: 'Change the tuning.',
          handle: async ({ fields, namespace, warnings }) => {
            const changes = toTuneMount(fields);
            await mounts.tune(toSite(table, namespace.id, fields.path), changes);
            warnings.push(...mountWarnings(changes.config));
            return undefined;
          },
        },
      },
    }),
  ];
};

export interface MountRouteDependencies {
  readonly mounts: MountOperations;
  readonly systemTtls: LeaseTtls;
  /** Full paths of mounts that a paths filter of the primary keeps from this cluster. */
  readonly keptBackPaths: () => Promise<readonly string[]>;
}

/** `sys/mounts`, `sys/auth`, `sys/remount`. */
export const mountRoutes = (parts: MountRouteDependencies): Route[] => [
  ...TABLES.flatMap((table) => tableRoutes(parts, table)),
  ...secretsRoutes({
    path: '/sys/remount',
    tag: 'mounts',
    fields: {
      from: field.string({
        description: 'Path of the mount, namespaces in front.',
        required: true,
      }),
      to: field.string({ description: 'Its new path, namespaces in front.', required: true }),
    },
    operations: {
      update: {
        summary: 'Move a mount; its leases end.',
        handle: async ({ fields, namespace }) => ({
          data: {
            migration_id: await parts.mounts.remount(namespace, fields.from, fields.to),
          },
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/remount/status/:migration_id',
    tag: 'mounts',
    fields: { migration_id: field.string({ description: 'From the move.', required: true }) },
    operations: {
      read: {
        summary: 'How a move went.',
        handle: async ({ fields }) => {
          const remount = await parts.mounts.findRemount(fields.migration_id);
          return (
            remount && {
              data: {
                migration_id: fields.migration_id,
                migration_info: {
                  source_mount: remount.sourceMount,
                  target_mount: remount.targetMount,
                  status: remount.status,
                },
              },
            }
          );
        },
      },
    },
  }),
];
