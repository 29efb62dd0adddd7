import { field, readFields } from '@keelson/secrets-api';
import type { EnableAuditDevice } from './audit-operations.ts';

/** Parameters of `sys/audit/:path`. */
export const AUDIT_DEVICE_FIELDS = {
  path: field.string({ description: 'Name of the device.', required: true }),
  type: field.string({ description: '"file" or "socket".', default: '', maxLength: 16 }),
  description: field.string({
    description: 'For people: returned only.',
    default: '',
    maxLength: 4096,
  }),
  options: field.stringMap({ description: 'Options of the type.', default: {}, maxLength: 16_384 }),
  local: field.bool({ description: 'Not replicated to secondaries.', default: false }),
} as const;

/** The device that a request to `sys/audit/<path>` describes. @throws KeelsonError `request.invalid` */
export const readAuditDevice = (
  path: string,
  data: Readonly<Record<string, unknown>>,
): EnableAuditDevice => readFields(AUDIT_DEVICE_FIELDS, { ...data, path });
