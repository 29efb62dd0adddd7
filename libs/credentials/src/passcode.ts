/** Passcodes of authenticator apps: time-based one-time passwords (RFC 6238), and how often a client may guess. */
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export interface PasscodeRules {
  readonly algorithm: 'SHA1' | 'SHA256' | 'SHA512';
  readonly digits: number;
  readonly periodSeconds: number;
  /** Periods before and after the present one whose passcodes are accepted. */
  readonly skew: number;
  /** Wrong passcodes in a row before the next one has to wait. */
  readonly maxAttempts: number;
}

export const passcodeUseShape = Type.Object({
  /** The period of the last passcode that was accepted, which no other login may use. */
  lastPeriod: Type.Number(),
  failures: Type.Number(),
  lastFailureMs: Type.Number(),
});
export type PasscodeUse = Shaped<typeof passcodeUseShape>;

export const UNUSED: PasscodeUse = { lastPeriod: -1, failures: 0, lastFailureMs: 0 };

const MAX_WAIT_MS = 15 * 60_000;

/** Until when no passcode is looked at: the wait doubles with each wrong one. */
export const waitsUntilMs = (
  { failures, lastFailureMs }: PasscodeUse,
  { maxAttempts, periodSeconds }: Pick<PasscodeRules, 'maxAttempts' | 'periodSeconds'>,
): number => {
  if (failures < maxAttempts) return 0;
  const doublings = Math.min(failures - maxAttempts, 10);
  return lastFailureMs + Math.min(MAX_WAIT_MS, periodSeconds * 1000 * 2 ** doublings);
};

// Loaded by the first passcode, which few processes see: each library costs memory.
const loadTotp = () => import('otpauth');

/** A random key in base32 (RFC 4648 §6). */
export const newPasscodeKey = async (bytes: number): Promise<string> => {
  const { Secret } = await loadTotp();
  return new Secret({ size: bytes }).base32;
};

const totpOf = async (
  key: string,
  { algorithm, digits, periodSeconds: period }: PasscodeRules,
  shown: { readonly issuer?: string; readonly label?: string } = {},
) => {
  const { Secret, TOTP } = await loadTotp();
  return new TOTP({ ...shown, secret: Secret.fromBase32(key), algorithm, digits, period });
};

/** The `otpauth://` address with the key, which an app reads. @param shown by the app */
export const passcodeAddress = async (
  key: string,
  rules: PasscodeRules,
  shown: { readonly issuer: string; readonly label: string },
): Promise<string> => (await totpOf(key, rules, shown)).toString();

/** The period that a passcode is of; undefined for a wrong one. The library compares in constant time. */
export const periodOfPasscode = async (
  key: string,
  rules: PasscodeRules,
  passcode: string,
  nowMs: number,
): Promise<number | undefined> => {
  const totp = await totpOf(key, rules);
  const delta = totp.validate({ token: passcode, timestamp: nowMs, window: rules.skew });
  return delta === null ? undefined : totp.counter({ timestamp: nowMs }) + delta;
};
