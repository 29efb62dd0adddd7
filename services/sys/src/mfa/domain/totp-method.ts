/** Time-based one-time passwords (RFC 6238): a method of login MFA, and how often a client may guess. */
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const totpMethodShape = Type.Object({
  id: Type.String(),
  namespaceId: Type.String(),
  /** "" for a method without a name. */
  name: Type.String(),
  /** Shown by authenticator apps. */
  issuer: Type.String(),
  periodSeconds: Type.Number(),
  keyBytes: Type.Number(),
  /** Edge of the QR code; 0 for none. */
  qrPixels: Type.Number(),
  algorithm: Type.Union([Type.Literal('SHA1'), Type.Literal('SHA256'), Type.Literal('SHA512')]),
  digits: Type.Number(),
  /** Periods before and after the present one whose passcodes are accepted. */
  skew: Type.Number(),
  /** Wrong passcodes in a row before the next one has to wait. */
  maxAttempts: Type.Number(),
});
export type TotpMethod = Shaped<typeof totpMethodShape>;

export const totpSecretShape = Type.Object({
  entityId: Type.String(),
  methodId: Type.String(),
  namespaceId: Type.String(),
  /** Base32 (RFC 4648 §6). */
  secret: Type.String(),
});
/** The key that an entity shares with the server, for one method. */
export type TotpSecret = Shaped<typeof totpSecretShape>;

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
  { maxAttempts, periodSeconds }: TotpMethod,
): number => {
  if (failures < maxAttempts) return 0;
  const doublings = Math.min(failures - maxAttempts, 10);
  return lastFailureMs + Math.min(MAX_WAIT_MS, periodSeconds * 1000 * 2 ** doublings);
};
