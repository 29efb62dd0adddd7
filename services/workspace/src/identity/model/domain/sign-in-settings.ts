import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const signInSettingsShape = Type.Object({
  /** Whether users sign in with a password of their own. */
  passwordsEnabled: Type.Boolean(),
  /** Whether users sign in with passkeys. */
  passkeysEnabled: Type.Boolean(),
  /** Base64, of the challenges for passkeys; absent until they were enabled first. */
  challengeKey: Type.Optional(Type.String()),
  /** Time from a sign-in to its end. */
  sessionMinutes: Type.Number(),
  /** How often passwords were switched off, which ends sessions and links of generations before; absent for never. */
  passwordGeneration: Type.Optional(Type.Number()),
  /** The same for passkeys. */
  passkeyGeneration: Type.Optional(Type.Number()),
});
/** How people sign in to the workspace API without a token that somebody gave them. */
export type SignInSettings = Shaped<typeof signInSettingsShape>;

export const DEFAULT_SIGN_IN_SETTINGS: SignInSettings = {
  passwordsEnabled: false,
  passkeysEnabled: false,
  sessionMinutes: 720,
};
