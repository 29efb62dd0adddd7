import type { Route } from '@keelson/edge';
import { field, mirrored, secretsRoutes } from '@keelson/secrets-api';
import { AUDIT_DEVICE_FIELDS } from './audit-fields.ts';
import {
  type AuditDeviceContext,
  disableAuditDevice,
  enableAuditDevice,
  hashForAudit,
} from './audit-operations.ts';

/** `sys/audit`, `sys/audit-hash`. */
export const auditRoutes = (context: AuditDeviceContext): Route[] => [
  ...secretsRoutes({
    path: '/sys/audit',
    tag: 'audit',
    fields: {},
    operations: {
      read: {
        summary: 'List the audit devices.',
        answer: { mirrored: {} },
        handle: async ({ warnings }) => {
          const { devices, damaged } = await context.devices();
          for (const { path } of damaged)
            warnings.push(
              `the audit device "${path}" is damaged and accepts no entry: disable it, and enable it again`,
            );
          return mirrored(
            Object.fromEntries(
              devices.map(({ path, type, description, options, local }) => [
                path,
                { path, type, description, options, local },
              ]),
            ),
          );
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/audit/*',
    tag: 'audit',
    fields: AUDIT_DEVICE_FIELDS,
    hasSettings: true,
    operations: {
      update: {
        summary: 'Enable an audit device.',
        handle: async ({ fields }) => {
          await enableAuditDevice(context, fields);
          return undefined;
        },
      },
      delete: {
        summary: 'Disable an audit device.',
        handle: async ({ fields }) => {
          await disableAuditDevice(context, fields.path);
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
          data: { hash: await hashForAudit(context, fields.path, fields.input) },
        }),
      },
    },
  }),
];
