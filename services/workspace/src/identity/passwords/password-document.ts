import { orNull, type ResourceOf, resourceSchema, timestamp, toTimestamp } from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { SignInSettings } from '../model/domain/sign-in-settings.ts';
import type { SsoSettings } from '../model/domain/sso-settings.ts';
import type { ResetView } from './password-reset-operations.ts';

export const PASSWORD_RESET = resourceSchema({
  type: 'password-resets',
  description: 'A link for a new password, as whoever follows it sees it.',
  attributes: {
    username: Type.String({ description: 'Name of the account.' }),
    'expires-at': orNull(timestamp('When the link ends.')),
  },
});

export const toPasswordResetResource = ({
  user,
  code,
}: ResetView): ResourceOf<typeof PASSWORD_RESET> => ({
  id: code.id,
  type: 'password-resets',
  attributes: {
    username: user.username,
    'expires-at': code.expiresAtMs === null ? null : toTimestamp(code.expiresAtMs),
  },
});

export const SIGN_IN_METHODS = resourceSchema({
  type: 'sign-in-methods',
  description: 'The ways in which people sign in to this API, for everybody to see.',
  attributes: {
    password: Type.Boolean({ description: 'Whether users sign in with a password.' }),
    passkey: Type.Boolean({ description: 'Whether users sign in with passkeys.' }),
    'single-sign-on': orNull(
      Type.String({
        description:
          'The name of the provider of identities that signs people in; null without one.',
      }),
    ),
    'password-reset': Type.Boolean({
      description: 'Whether users get the link for a new password by mail.',
    }),
  },
});

/** @param canMail whether the installation sends mail */
export const toSignInMethodsResource = (
  { passwordsEnabled, passkeysEnabled }: SignInSettings,
  sso: SsoSettings | undefined,
  canMail: boolean,
): ResourceOf<typeof SIGN_IN_METHODS> => ({
  id: 'site',
  type: 'sign-in-methods',
  attributes: {
    password: passwordsEnabled,
    passkey: passkeysEnabled,
    'password-reset': passwordsEnabled && canMail,
    'single-sign-on': sso?.enabled === true ? sso.title : null,
  },
});
