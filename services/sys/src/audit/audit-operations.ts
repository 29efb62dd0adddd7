import { createHmac, randomBytes } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { AuditDevice, AuditDeviceList } from '@keelson/proto/sys/v1/access';
import type { Store } from '@keelson/storage';
import {
  type AuditDevices,
  bumpAuditGeneration,
  type DamagedAuditDevice,
  deleteAuditDevice,
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

export interface AuditDeviceContext {
  readonly store: Store;
  /** The devices at the time of each call. */
  readonly devices: () => Promise<AuditDevices>;
}

const SALT_BYTES = 32;

const toWire = ({ path, type, options, salt, accessor }: AuditDeviceRecord): AuditDevice => ({
  path,
  type,
  options: type === 'file' ? { ...options, file_path: auditFilePath(options) } : { ...options },
  salt: Buffer.from(salt, 'base64'),
  accessor,
});

const toDamagedWire = ({ path }: DamagedAuditDevice): AuditDevice => ({
  path,
  type: 'damaged',
  options: {},
  salt: Buffer.alloc(0),
  accessor: '',
});

const toRecord = (
  given: EnableAuditDevice,
  { devices, damaged }: AuditDevices,
): AuditDeviceRecord => {
  const path = requireAuditPath(given.path);
  const type = requireAuditDeviceType(given.type);
  requireAuditOptions(type, given.options);
  if (
    [...devices, ...damaged].some(
      (other) => other.path.startsWith(path) || path.startsWith(other.path),
    )
  )
    throw new KeelsonError('request.invalid', { text: 'path already in use' });
  return {
    ...given,
    path,
    type,
    accessor: `audit_${type}_${randomBytes(4).toString('hex')}`,
    salt: randomBytes(SALT_BYTES).toString('base64'),
  };
};

export const enableAuditDevice = (
  { store }: AuditDeviceContext,
  given: EnableAuditDevice,
): Promise<void> =>
  store.transact(async (tx) => {
    writeAuditDevice(tx, toRecord(given, await loadAuditDevices(tx)));
    await bumpAuditGeneration(tx);
  });

/** The device that `enableAuditDevice` would create, with the same refusals; nothing is stored. */
export const draftAuditDevice = async (
  { devices }: AuditDeviceContext,
  given: EnableAuditDevice,
): Promise<AuditDevice> => toWire(toRecord(given, await devices()));

/** Succeeds when there is no such device; a damaged device is disabled like any other. */
export const disableAuditDevice = ({ store }: AuditDeviceContext, given: string): Promise<void> =>
  store.transact(async (tx) => {
    const path = requireAuditPath(given);
    const { devices, damaged } = await loadAuditDevices(tx);
    const device = [...devices, ...damaged].find((other) => other.path === path);
    if (device === undefined) return;
    deleteAuditDevice(tx, device);
    await bumpAuditGeneration(tx);
  });

/** The HMAC of `input` as it appears in the device's entries. */
export const hashForAudit = async (
  { devices }: AuditDeviceContext,
  given: string,
  input: string,
): Promise<string> => {
  const path = requireAuditPath(given);
  const device = (await devices()).devices.find((other) => other.path === path);
  if (device === undefined)
    throw new KeelsonError('request.invalid', { text: `unknown audit backend: ${path}` });
  const key = Buffer.from(device.salt, 'base64');
  return `hmac-sha256:${createHmac('sha256', key).update(input).digest('hex')}`;
};

/** For the gateways: the devices with their salts, and the damaged ones, which accept no entry. */
export const listDevicesForGateways = async (
  context: AuditDeviceContext,
): Promise<AuditDeviceList> => {
  const { generation, devices, damaged } = await context.devices();
  return { generation, devices: [...devices.map(toWire), ...damaged.map(toDamagedWire)] };
};
