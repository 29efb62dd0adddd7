import { localSetting, type MountScope, sharedSetting } from '@keelson/engine';
import { type Reads, type Transaction } from '@keelson/storage';
import {
  type AuthorityUrls,
  authorityUrlsShape,
  type ClusterAddress,
  clusterAddressShape,
  NO_URLS,
} from './domain/authority-urls.ts';

export const NO_ADDRESS: ClusterAddress = { path: '', aiaPath: '' };

const urlsRecord = sharedSetting('urls', { version: 1, shape: authorityUrlsShape });

const addressRecord = localSetting('cluster', { version: 1, shape: clusterAddressShape });

export const loadUrls = async (reads: Reads, mount: MountScope): Promise<AuthorityUrls> =>
  (await urlsRecord(mount).find(reads)) ?? NO_URLS;

export const writeUrls = (tx: Transaction, mount: MountScope, urls: AuthorityUrls): void =>
  urlsRecord(mount).write(tx, urls);

export const loadClusterAddress = async (
  reads: Reads,
  mount: MountScope,
): Promise<ClusterAddress> => (await addressRecord(mount).find(reads)) ?? NO_ADDRESS;

export const writeClusterAddress = (
  tx: Transaction,
  mount: MountScope,
  address: ClusterAddress,
): void => addressRecord(mount).write(tx, address);
