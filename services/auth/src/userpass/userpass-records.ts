import { sharedRecords } from '@keelson/engine';
import { userShape } from './domain/user.ts';

/** By name, in lower case. */
export const userRecords = sharedRecords('userpass/users', { version: 1, shape: userShape });
