import { type MountScope, sharedSetting } from '@keelson/engine';
import { type Reads, type Transaction } from '@keelson/storage';
import { type CrlConfig, crlConfigShape, DEFAULT_CRL_CONFIG } from './domain/crl-config.ts';

const configRecord = sharedSetting('crl', { version: 1, shape: crlConfigShape });

export const loadCrlConfig = async (reads: Reads, mount: MountScope): Promise<CrlConfig> =>
  (await configRecord(mount).find(reads)) ?? DEFAULT_CRL_CONFIG;

export const writeCrlConfig = (tx: Transaction, mount: MountScope, config: CrlConfig): void =>
  configRecord(mount).write(tx, config);
