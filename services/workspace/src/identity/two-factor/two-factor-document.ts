import { orNull, type ResourceOf, resourceSchema } from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { TwoFactorView } from './two-factor-operations.ts';

const shownOnce = (description: string) =>
  Type.Optional(orNull(Type.String({ description: `${description}; shown once.` })));

export const TWO_FACTOR = resourceSchema({
  type: 'two-factors',
  description: 'The two-factor authentication of an account; its id is that of the user.',
  attributes: {
    enabled: Type.Boolean({ description: 'Whether a sign-in with the password needs it.' }),
    verified: Type.Boolean({ description: 'Whether a passcode has proved the key.' }),
    'recovery-codes-left': Type.Integer(),
    secret: shownOnce('The key for an authenticator app, in base32'),
    'provisioning-url': shownOnce('The key as the address that apps read from a QR code'),
    'recovery-codes': Type.Optional(
      Type.Array(Type.String(), {
        description: 'Each stands in for one passcode; shown once.',
      }),
    ),
  },
});

/** @param secrets those that are shown once */
export const toTwoFactorResource = (
  { user, factor }: TwoFactorView,
  secrets: {
    readonly address?: string;
    readonly codes?: readonly string[];
  } = {},
): ResourceOf<typeof TWO_FACTOR> => ({
  id: user.id,
  type: 'two-factors',
  attributes: {
    enabled: user.hasSecondFactor === true,
    verified: user.hasSecondFactor === true,
    'recovery-codes-left': factor?.recoveryHashes.length ?? 0,
    ...(secrets.address !== undefined && {
      secret: factor?.key ?? null,
      'provisioning-url': secrets.address,
    }),
    ...(secrets.codes !== undefined && { 'recovery-codes': [...secrets.codes] }),
  },
});
