/** Time-based one-time passwords (RFC 6238): a method of login MFA. */
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const totpMethodShape = Type.Object({
  type: Type.Literal('totp'),
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
