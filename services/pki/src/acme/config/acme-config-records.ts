import { jsonRecords, type RecordCollection } from '@keelson/storage';
import { type MountScope, sharedSettingsPrefix } from '../../mounts/mount-records.ts';
import type { AcmeConfig } from './domain/acme-config.ts';

/** A single record with the key `ACME_SETTING`, replicated to all clusters. */
export const acmeConfigRecords = (mount: MountScope): RecordCollection<AcmeConfig> =>
  jsonRecords(sharedSettingsPrefix(mount));
export const ACME_SETTING = 'acme';
