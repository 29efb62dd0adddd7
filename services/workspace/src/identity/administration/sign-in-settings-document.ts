import { type ResourceOf, resourceSchema } from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { SignInSettings } from '../model/domain/sign-in-settings.ts';

export const SIGN_IN_SETTINGS = resourceSchema({
  type: 'sign-in-settings',
  description: 'How people sign in to this site without a token that somebody gave them.',
  attributes: {
    'passwords-enabled': Type.Boolean({
      description:
        'Whether users sign in with a password of their own. False ends the sessions that they began.',
    }),
    'passkeys-enabled': Type.Boolean({
      description: 'Whether users sign in with passkeys. False ends the sessions that they began.',
    }),
    'session-minutes': Type.Integer({ description: 'Time from a sign-in to its end.' }),
  },
});

export const toSignInSettingsResource = ({
  passwordsEnabled,
  passkeysEnabled,
  sessionMinutes,
}: SignInSettings): ResourceOf<typeof SIGN_IN_SETTINGS> => ({
  id: 'site',
  type: 'sign-in-settings',
  attributes: {
    'passwords-enabled': passwordsEnabled,
    'passkeys-enabled': passkeysEnabled,
    'session-minutes': sessionMinutes,
  },
});
