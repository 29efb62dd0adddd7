import { localRecords, sharedRecords } from '@keelson/engine';
import { lockoutShape } from './domain/lockout.ts';
import { userShape } from './domain/user.ts';

/** By name, in lower case. */
export const userRecords = sharedRecords('userpass/users', { version: 1, shape: userShape });

/** By the name of the user. Each cluster counts for itself. */
export const lockoutRecords = localRecords('userpass/lockouts', {
  version: 1,
  shape: lockoutShape,
});
