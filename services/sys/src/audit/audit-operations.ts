import { createHmac, randomBytes } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { AuditDevice, AuditDeviceList } from '@keelson/proto/sys/v1/access';
import type { Store } from '@keelson/storage';
import {
  bumpAuditGeneration,
  deleteAuditDevice,
  followAuditDevices,
  loadAuditDevices,
  writeAuditDevice,
} from './audit-records.ts';
import {
  type AuditDeviceRecord,
  auditFilePath,
  requireAuditDeviceType,
  requireAuditOptions,
  requireAuditPath,
} from './domain/audit-device.ts';

export interface EnableAuditDevice {
  readonly path: string;
  readonly type: string;
  readonly description: string;
  readonly options: Readonly<Record<string, string>>;
  readonly local: boolean;
}

export interface AuditOperations {
  list(): Promise<readonly AuditDeviceRecord[]>;
  enable(device: EnableAuditDevice): Promise<void>;
  /** The device as `enable` would make it; nothing is stored. Refuses what `enable` refuses. */
  draft(device: EnableAuditDevice): Promise<AuditDevice>;
  /** Absent is success. */
  disable(path: string): Promise<void>;
  /** How `input` appears in the device's entries. */
  hash(path: string, input: string): Promise<string>;
  /** For the gateways: devices with their salts. */
  devices(): Promise<AuditDeviceList>;
}

const SALT_BYTES = 32;

const toWire = ({ path, type, options, salt, accessor }: AuditDeviceRecord): AuditDevice => ({
  path,
  type,
  options: type === 'file' ? { ...options, file_path: auditFilePath(options) } : { ...options },
  salt: Buffer.from(salt, 'base64'),
  accessor,
});

/** Audit devices of one store. */
export const createAuditOperations = (store: Store): AuditOperations => {
  const current = followAuditDevices(store);

  const toRecord = (
    given: EnableAuditDevice,
    devices: readonly AuditDeviceRecord[],
  ): AuditDeviceRecord => {
    const path = requireAuditPath(given.path);
    const type = requireAuditDeviceType(given.type);
    requireAuditOptions(type, given.options);
    if (devices.some((other) => other.path.startsWith(path) || path.startsWith(other.path)))
      throw new KeelsonError('request.invalid', { text: 'path already in use' });
    return {
      ...given,
      path,
      type,
      accessor: `audit_${type}_${randomBytes(4).toString('hex')}`,
      salt: randomBytes(SALT_BYTES).toString('base64'),
    };
  };

  return {
    list: async () => (await current()).devices,

    enable: (given) =>
      store.transact(async (tx) => {
        writeAuditDevice(tx, toRecord(given, (await loadAuditDevices(tx)).devices));
        await bumpAuditGeneration(tx);
      }),

    draft: async (given) => toWire(toRecord(given, (await current()).devices)),

    disable: (given) =>
      store.transact(async (tx) => {
        const path = requireAuditPath(given);
        const device = (await loadAuditDevices(tx)).devices.find((other) => other.path === path);
        if (device === undefined) return;
        deleteAuditDevice(tx, device);
        await bumpAuditGeneration(tx);
      }),

    hash: async (given, input) => {
      const path = requireAuditPath(given);
      const device = (await current()).devices.find((other) => other.path === path);
      if (device === undefined)
        throw new KeelsonError('request.invalid', { text: `unknown audit backend: ${path}` });
      const key = Buffer.from(device.salt, 'base64');
      return `hmac-sha256:${createHmac('sha256', key).update(input).digest('hex')}`;
    },

    devices: async () => {
      const { generation, devices } = await current();
      return { generation, devices: devices.map(toWire) };
    },
  };
};
