import { jsonRecords, type Reads, type Transaction } from '@keelson/storage';
import { type MountScope, sharedSettingsPrefix } from '../mounts/mount-records.ts';
import { type CrlConfig, DEFAULT_CRL_CONFIG } from './domain/crl-config.ts';

const CRL = 'crl';

const records = (mount: MountScope) => jsonRecords<CrlConfig>(sharedSettingsPrefix(mount));

export const loadCrlConfig = async (reads: Reads, mount: MountScope): Promise<CrlConfig> =>
  (await records(mount).find(reads, CRL)) ?? DEFAULT_CRL_CONFIG;

export const writeCrlConfig = (tx: Transaction, mount: MountScope, config: CrlConfig): void =>
  records(mount).write(tx, CRL, config);
