import { jsonRecords, type RecordCollection } from '@keelson/storage';
import { type MountScope, sharedSettingsPrefix } from '../../mounts/mount-records.ts';
import type { AcmeConfig } from './domain/acme-config.ts';

/** Its only key is `ACME_SETTING`; the same in all clusters. */
export const acmeConfigRecords = (mount: MountScope): RecordCollection<AcmeConfig> =>
  jsonRecords(sharedSettingsPrefix(mount));
export const ACME_SETTING = 'acme';
