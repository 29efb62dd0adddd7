import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { field, mirrored, secretsRoutes } from '@keelson/secrets-api';
import type { MountRecord, MountTable } from './domain/mount.ts';
import { findConflict, toMountPath } from './domain/mount-path.ts';
import { mountDocument, tuneDocument } from './mount-document.ts';
import {
  ENABLE_FIELDS,
  mountWarnings,
  TUNE_FIELDS,
  toMountConfig,
  toTuneMount,
} from './mount-fields.ts';
import {
  disableMount,
  enableMount,
  findMount,
  findRemount,
  listDamagedMounts,
  listHiddenMounts,
  listMounts,
  type MountContext,
  type MountSite,
  moveMount,
  tuneMount,
} from './mount-operations.ts';

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** `sys/mounts/auth/token/tune` refers to a mount of the auth table. */
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
  context: MountContext,
  { table, base, noun, absent }: (typeof TABLES)[number],
): Route[] => {
  const requireMount = async (namespaceId: string, path: string): Promise<MountRecord> =>
    (await findMount(context, toSite(table, namespaceId, path))) ??
    refuse(`${absent} ${toMountPath(path)}`);

  return [
    ...secretsRoutes({
      path: base,
      tag: 'mounts',
      fields: {},
      operations: {
        read: {
          summary: `List every ${noun} of the namespace.`,
          answer: { mirrored: {} },
          handle: async ({ namespace, warnings }) => {
            const listed = await listMounts(context, namespace.id, table);
            for (const { uuid } of await listDamagedMounts(context, namespace.id))
              warnings.push(
                `the mount ${uuid} is damaged and unavailable; its data is kept (docs/runbooks/repair-damage.md)`,
              );
            for (const { mount, by } of await listHiddenMounts(context, namespace.id, table))
              warnings.push(
                `the mount of the primary at ${mount.path} is unreachable: the local mount ${by.path} takes its path`,
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
      hasSettings: true,
      operations: {
        read: {
          summary: `Read one ${noun}.`,
          answer: { mirrored: {} },
          handle: async ({ fields, namespace }) =>
            mirrored(mountDocument(await requireMount(namespace.id, fields.path))),
        },
        update: {
          summary: `Enable a ${noun}.`,
          handle: async ({ fields, namespace, warnings }) => {
            const older = fields.plugin_name ?? '';
            const type = fields.type || older;
            if (older !== '' && older !== type)
              refuse('plugin_name is the older name of type; only one of them may be given');
            if (type === '') refuse('backend type must be specified as a string');
            const description = fields.description || (fields.config.description ?? '');
            if ((fields.config.description || description) !== description)
              refuse('description and config.description differ; one of them is enough');
            const path = toMountPath(fields.path);
            const config = toMountConfig(fields.config);
            const keptBack = fields.local ? await context.keptBackPaths() : [];
            const hidden = findConflict(`${namespace.path}${path}`, keptBack);
            await enableMount(
              context,
              { namespaceId: namespace.id, table, path },
              {
                type,
                description,
                local: fields.local,
                options: fields.options,
                config,
              },
            );
            warnings.push(...mountWarnings({ options: fields.options, config }));
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
            await disableMount(context, { namespaceId: namespace.id, table, path: fields.path });
            return undefined;
          },
        },
      },
    }),
    ...secretsRoutes({
      path: `${base}/*/tune`,
      tag: 'mounts',
      fields: TUNE_FIELDS,
      hasSettings: true,
      operations: {
        read: {
          summary: 'Read the tuning in force.',
          answer: { mirrored: {} },
          handle: async ({ fields, namespace }) =>
            mirrored(
              tuneDocument(await requireMount(namespace.id, fields.path), context.systemTtls),
            ),
        },
        update: {
          summary: 'Change the tuning.',
          handle: async ({ fields, namespace, warnings }) => {
            const changes = toTuneMount(fields);
            await tuneMount(context, toSite(table, namespace.id, fields.path), changes);
            warnings.push(...mountWarnings(changes));
            return undefined;
          },
        },
      },
    }),
  ];
};

/** `sys/mounts`, `sys/auth`, `sys/remount`. */
export const mountRoutes = (context: MountContext): Route[] => [
  ...TABLES.flatMap((table) => tableRoutes(context, table)),
  ...secretsRoutes({
    path: '/sys/remount',
    tag: 'mounts',
    fields: {
      from: field.string({
        description: 'Path of the mount, including namespaces.',
        required: true,
      }),
      to: field.string({ description: 'New path, including namespaces.', required: true }),
    },
    operations: {
      update: {
        summary: 'Move a mount; its leases end.',
        handle: async ({ fields, namespace }) => ({
          data: {
            migration_id: await moveMount(context, namespace, fields.from, fields.to),
          },
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/remount/status/:migration_id',
    tag: 'mounts',
    fields: {
      migration_id: field.string({ description: 'Id that the move returned.', required: true }),
    },
    operations: {
      read: {
        summary: 'Show the state of a move.',
        handle: async ({ fields }) => {
          const remount = await findRemount(context, fields.migration_id);
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
