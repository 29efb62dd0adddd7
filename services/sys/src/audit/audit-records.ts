import {
  deriveView,
  jsonRecords,
  type Reads,
  type Store,
  type Transaction,
} from '@keelson/storage';
import type { AuditDeviceRecord } from './domain/audit-device.ts';

// Key of each: the device's path without its trailing slash. A local device never leaves its cluster.
const replicatedDevices = jsonRecords<AuditDeviceRecord>('shared/core/audit/');
const localDevices = jsonRecords<AuditDeviceRecord>('local/core/audit/');
const generationRecord = jsonRecords<number>('shared/core/audit-generation/');
const GENERATION_KEY = 'current';

const keyOf = (path: string): string => path.slice(0, -1);

export interface AuditDevices {
  readonly generation: number;
  /** By path. */
  readonly devices: readonly AuditDeviceRecord[];
}

export const loadAuditDevices = async (reads: Reads): Promise<AuditDevices> => {
  const entries = [
    ...(await replicatedDevices.entries(reads)),
    ...(await localDevices.entries(reads)),
  ];
  return {
    generation: (await generationRecord.find(reads, GENERATION_KEY)) ?? 0,
    devices: entries.map(([, device]) => device).toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  };
};

/** Devices and generation as of each call. */
export const followAuditDevices = (store: Store): (() => Promise<AuditDevices>) =>
  deriveView(
    store,
    [replicatedDevices.prefix, localDevices.prefix, generationRecord.prefix],
    loadAuditDevices,
  );

/** Tells the gateways, with their next request, to fetch devices and non-HMAC keys again. */
export const bumpAuditGeneration = async (tx: Transaction): Promise<void> => {
  const current = (await generationRecord.find(tx, GENERATION_KEY)) ?? 0;
  // A uint32 on the wire; it only has to differ.
  generationRecord.write(tx, GENERATION_KEY, (current + 1) % 2 ** 32);
};

export const writeAuditDevice = (tx: Transaction, device: AuditDeviceRecord): void =>
  (device.local ? localDevices : replicatedDevices).write(tx, keyOf(device.path), device);

export const deleteAuditDevice = (tx: Transaction, device: AuditDeviceRecord): void =>
  (device.local ? localDevices : replicatedDevices).delete(tx, keyOf(device.path));
