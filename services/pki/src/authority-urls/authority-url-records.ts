import { jsonRecords, type Reads, type Transaction } from '@keelson/storage';
import {
  localSettingsPrefix,
  type MountScope,
  sharedSettingsPrefix,
} from '../mounts/mount-records.ts';
import { type AuthorityUrls, type ClusterAddress, NO_URLS } from './domain/authority-urls.ts';

const URLS = 'urls';
const CLUSTER = 'cluster';
export const NO_ADDRESS: ClusterAddress = { path: '', aiaPath: '' };

const urlsRecords = (mount: MountScope) => jsonRecords<AuthorityUrls>(sharedSettingsPrefix(mount));

const addressRecords = (mount: MountScope) =>
  jsonRecords<ClusterAddress>(localSettingsPrefix(mount));

export const loadUrls = async (reads: Reads, mount: MountScope): Promise<AuthorityUrls> =>
  (await urlsRecords(mount).find(reads, URLS)) ?? NO_URLS;

export const writeUrls = (tx: Transaction, mount: MountScope, urls: AuthorityUrls): void =>
  urlsRecords(mount).write(tx, URLS, urls);

export const loadClusterAddress = async (
  reads: Reads,
  mount: MountScope,
): Promise<ClusterAddress> => (await addressRecords(mount).find(reads, CLUSTER)) ?? NO_ADDRESS;

export const writeClusterAddress = (
  tx: Transaction,
  mount: MountScope,
  address: ClusterAddress,
): void => addressRecords(mount).write(tx, CLUSTER, address);
