/** Passkeys (WebAuthn): a method of login MFA. */
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const passkeyMethodShape = Type.Object({
  type: Type.Literal('webauthn'),
  id: Type.String(),
  namespaceId: Type.String(),
  /** "" for a method without a name. */
  name: Type.String(),
  /** Shown by browsers and authenticators. */
  relyingPartyName: Type.String(),
  /** The domain that passkeys are bound to; "" for that of the public address. */
  relyingPartyId: Type.String(),
  /** Addresses of consoles; none for the public address. */
  origins: Type.Array(Type.String()),
  userVerification: Type.Union([Type.Literal('required'), Type.Literal('preferred')]),
  /** Failures in a row before the next attempt has to wait. */
  maxAttempts: Type.Number(),
  /** Base64; challenges are proved with it, in all clusters. */
  challengeKey: Type.String(),
});
export type PasskeyMethod = Shaped<typeof passkeyMethodShape>;
