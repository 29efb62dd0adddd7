import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const signInSettingsShape = Type.Object({
  /** Whether users sign in with a password of their own. */
  passwordsEnabled: Type.Boolean(),
  /** Time from a sign-in to its end. */
  sessionMinutes: Type.Number(),
});
/** How people sign in to the workspace API without a token that somebody gave them. */
export type SignInSettings = Shaped<typeof signInSettingsShape>;

export const DEFAULT_SIGN_IN_SETTINGS: SignInSettings = {
  passwordsEnabled: false,
  sessionMinutes: 720,
};
