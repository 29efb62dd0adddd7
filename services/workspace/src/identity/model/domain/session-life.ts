/**
 * When a session ends: by its time, and with the way by which its user has signed in. A way that is switched on again
 * has another generation, so that no session from before comes back.
 */
import type { SignInSettings } from './sign-in-settings.ts';
import type { SsoSettings } from './sso-settings.ts';
import type { ApiToken } from './token.ts';

const MINUTE_MS = 60_000;

/** How people sign in to the site at one moment. */
export interface SignInWays {
  readonly settings: SignInSettings;
  /** Undefined on a site that has never had any. */
  readonly sso: SsoSettings | undefined;
}

/** Marks of the way by which somebody has signed in; none for a password. */
export type SignInMarks = Pick<ApiToken, 'isSingleSignOn' | 'isPasskey'>;

/** The present generation of a way; undefined while it is off. */
export const generationOf = (
  { isSingleSignOn, isPasskey }: SignInMarks,
  { settings, sso }: SignInWays,
): number | undefined => {
  if (isSingleSignOn === true) return sso?.enabled === true ? (sso.generation ?? 0) : undefined;
  if (isPasskey === true)
    return settings.passkeysEnabled ? (settings.passkeyGeneration ?? 0) : undefined;
  return settings.passwordsEnabled ? (settings.passwordGeneration ?? 0) : undefined;
};

/** Whether the way of a session, or of a link for a new password, has been on since it was made. */
export const isOfPresent = (token: ApiToken, ways: SignInWays): boolean =>
  generationOf(token, ways) === (token.signInGeneration ?? 0);

/** When a session ends by its time: that which it was given, or the present one of the site if this is shorter. */
export const sessionEndMs = (
  { createdAtMs, expiresAtMs }: ApiToken,
  { settings }: SignInWays,
): number => {
  const endMs = createdAtMs + settings.sessionMinutes * MINUTE_MS;
  return expiresAtMs === null ? endMs : Math.min(expiresAtMs, endMs);
};

/** Whether a session goes on. */
export const isSessionOpen = (token: ApiToken, ways: SignInWays, nowMs: number): boolean =>
  isOfPresent(token, ways) && nowMs < sessionEndMs(token, ways);
