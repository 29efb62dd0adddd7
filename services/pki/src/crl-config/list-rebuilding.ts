import { type MountScope } from '@keelson/engine';

/** Rebuilds the lists after a change of issuers, settings or revocations; implemented by `crl/build`. */
export interface ListRebuilding {
  /**
   * New lists for all issuers of the mount, with everything that was revoked before the call.
   * @returns warnings
   */
  rebuild(mount: MountScope): Promise<readonly string[]>;
}
