import { localRecords } from '@keelson/engine';
import { lockoutShape } from './domain/lockout.ts';

/** By the digest of the name of the user. Each cluster counts for itself. */
export const lockoutRecords = localRecords('lockouts', { version: 1, shape: lockoutShape });
