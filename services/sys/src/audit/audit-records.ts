import { randomInt } from 'node:crypto';
import { collection, deriveView, type Reads, type Store, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import type { OnDamage } from '../damage/damage-register.ts';
import { type AuditDeviceRecord, auditDeviceRecordShape } from './domain/audit-device.ts';

// Keys: the device's path without its trailing slash. A local device never leaves its cluster.
const replicatedDevices = collection('core/audit', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: auditDeviceRecordShape,
});
const localDevices = collection('core/audit', {
  scope: 'local',
  version: 1,
  keys: 'paths',
  shape: auditDeviceRecordShape,
});
const generationRecord = collection('core/audit-generation', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: Type.Number(),
});
const GENERATION_KEY = 'current';

/** Higher than any real generation, so that gateways fetch the devices; still leaves room to count on. */
const GENERATION_WHILE_DAMAGED = 2 ** 31;

const MAX_STEP = 2 ** 20;

const keyOf = (path: string): string => path.slice(0, -1);

/** A device whose record cannot be decrypted, so its destination is unknown. */
export type DamagedAuditDevice = Pick<AuditDeviceRecord, 'path' | 'local'>;

export interface AuditDevices {
  readonly generation: number;
  /** Sorted by path. */
  readonly devices: readonly AuditDeviceRecord[];
  readonly damaged: readonly DamagedAuditDevice[];
}

const findGeneration = async (reads: Pick<Reads, 'scanAs'>): Promise<number> => {
  const { entries, damaged } = await generationRecord.readableEntries(reads);
  return damaged.length > 0 ? GENERATION_WHILE_DAMAGED : (entries[0]?.[1] ?? 0);
};

export const loadAuditDevices = async (reads: Pick<Reads, 'scanAs'>): Promise<AuditDevices> => {
  const replicated = await replicatedDevices.readableEntries(reads);
  const local = await localDevices.readableEntries(reads);
  const toDamaged =
    (isLocal: boolean) =>
    (key: string): DamagedAuditDevice => ({ path: `${key}/`, local: isLocal });
  return {
    generation: await findGeneration(reads),
    devices: [...replicated.entries, ...local.entries]
      .map(([, device]) => device)
      .toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    damaged: [...replicated.damaged.map(toDamaged(false)), ...local.damaged.map(toDamaged(true))],
  };
};

/**
 * Follows devices and generation; the result returns them as of each call.
 * @param onDamage called with the paths of damaged devices at every read
 */
export const followAuditDevices = (
  store: Store,
  onDamage: OnDamage,
): (() => Promise<AuditDevices>) =>
  deriveView(
    store,
    [replicatedDevices.prefix, localDevices.prefix, generationRecord.prefix],
    async (reads) => {
      const devices = await loadAuditDevices(reads);
      onDamage(devices.damaged.map(({ path }) => path));
      return devices;
    },
  );

/**
 * Makes the gateways reload devices and non-HMAC keys with their next request. The step is random, so that after a
 * restoration no change gets the generation that another change had before it.
 */
export const bumpAuditGeneration = async (tx: Transaction): Promise<void> => {
  const current = await findGeneration(tx);
  // A uint32 on the wire, which may wrap around.
  generationRecord.write(tx, GENERATION_KEY, (current + randomInt(1, MAX_STEP)) % 2 ** 32);
};

export const writeAuditDevice = (tx: Transaction, device: AuditDeviceRecord): void =>
  (device.local ? localDevices : replicatedDevices).write(tx, keyOf(device.path), device);

export const deleteAuditDevice = (tx: Transaction, device: DamagedAuditDevice): void =>
  (device.local ? localDevices : replicatedDevices).delete(tx, keyOf(device.path));

/** Names of the stored devices, which are part of their paths and therefore known while the cluster is sealed. */
export const listAuditDeviceNames = async (store: Store): Promise<readonly string[]> =>
  (
    await Promise.all([replicatedDevices, localDevices].map(({ prefix }) => store.list(prefix)))
  ).flat();
