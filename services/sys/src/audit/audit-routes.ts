import type { Route } from '@keelson/edge';
import { field, mirrored, secretsRoutes } from '@keelson/secrets-api';
import { AUDIT_DEVICE_FIELDS } from './audit-fields.ts';
import type { AuditOperations } from './audit-operations.ts';

/** `sys/audit`, `sys/audit-hash`. */
export const auditRoutes = (audit: AuditOperations): Route[] => [
  ...secretsRoutes({
    path: '/sys/audit',
    tag: 'audit',
    fields: {},
    operations: {
      read: {
        summary: 'List the audit devices.',
        handle: async () =>
          mirrored(
            Object.fromEntries(
              (await audit.list()).map(({ path, type, description, options, local }) => [
                path,
                { path, type, description, options, local },
              ]),
            ),
          ),
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/audit/*',
    tag: 'audit',
    fields: AUDIT_DEVICE_FIELDS,
    operations: {
      update: {
        summary: 'Enable an audit device.',
        handle: async ({ fields }) => {
          await audit.enable(fields);
          return undefined;
        },
      },
      delete: {
        summary: 'Disable an audit device.',
        handle: async ({ fields }) => {
          await audit.disable(fields.path);
          return undefined;
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/audit-hash/*',
    tag: 'audit',
    fields: {
      path: field.string({ description: 'Name of the device.', required: true }),
      input: field.string({
        description: 'Text to look for in the device’s entries.',
        required: 'the "input" parameter is empty',
      }),
    },
    operations: {
      update: {
        summary: 'How a text appears in the entries of a device.',
        handle: async ({ fields }) => ({
          data: { hash: await audit.hash(fields.path, fields.input) },
        }),
      },
    },
  }),
];
