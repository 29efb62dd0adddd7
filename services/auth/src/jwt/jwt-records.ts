import { localRecords, sharedRecords, sharedSetting } from '@keelson/engine';
import { Type } from 'typebox';
import { jwtConfigShape } from './domain/jwt-config.ts';
import { jwtRoleShape } from './domain/jwt-role.ts';

export const configSetting = sharedSetting('jwt', { version: 1, shape: jwtConfigShape });

/** By name, in lower case. */
export const roleRecords = sharedRecords('jwt/roles', { version: 1, shape: jwtRoleShape });

/** By digest: verified logins through a browser whose program has not asked for them yet, until they expire. */
export const finishedLoginRecords = localRecords('jwt/finished-logins', {
  version: 1,
  shape: Type.Object({
    /** About the user, as a JSON object. */
    claimsJson: Type.String(),
    /** Digest of the code with which the browser went on; "" if it stayed. */
    codeDigest: Type.String(),
    expiresAtMs: Type.Number(),
  }),
});

/** By digest: the states of logins through a browser that have succeeded, until they expire. */
export const usedStateRecords = localRecords('jwt/used-states', {
  version: 1,
  shape: Type.Object({ expiresAtMs: Type.Number() }),
});
