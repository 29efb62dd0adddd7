import { LOCKOUT_UPGRADES, lockoutShape } from '@keelson/credentials';
import { localRecords } from '@keelson/engine';

/** By the digest of the name of the user. Each cluster counts for itself. */
export const lockoutRecords = localRecords('lockouts', {
  version: 2,
  shape: lockoutShape,
  upgrades: LOCKOUT_UPGRADES,
});
