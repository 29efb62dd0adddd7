import type { SealedLogin } from '@keelson/openid/sealed-state';
import type { CallbackMode } from './domain/jwt-role.ts';

/** Longest time in which somebody types the code of a device. */
export const DEVICE_LOGIN_LASTS_MS = 15 * 60_000;

/** A login of a role that is under way. */
export interface LoginState extends SealedLogin {
  /** Who completes the login: the browser's program, Keelson itself, or the provider's page for devices. */
  readonly mode: CallbackMode;
  readonly role: string;
  /** Where the browser goes on from there; "" if it stays. */
  readonly returnTo: string;
  /** By which the provider knows the login of a device; "" for others. */
  readonly deviceCode: string;
  /** Address of the program that began the login. */
  readonly remoteAddress: string;
}
