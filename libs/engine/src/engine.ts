/** The parts that all services share that serve mounts of engines. */
export { followMounts, type MountFollower, type ThisCluster } from './follow-mounts.ts';
export { MountCleaning } from './mount-cleaning.ts';
export {
  localPrefix,
  localRecords,
  localSetting,
  localSettingsPrefix,
  type MountScope,
  OF_MOUNT,
  ofMount,
  sharedPrefix,
  sharedRecords,
  sharedSetting,
  sharedSettingsPrefix,
} from './mount-records.ts';
export { isName, NAME_FIELD, requireName } from './name.ts';
export { requireMount } from './request-mount.ts';
export { edgeWhileOpen, whileOpen } from './while-open.ts';
