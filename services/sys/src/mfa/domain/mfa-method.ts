/** The methods of login MFA. */
import { Type } from 'typebox';
import { type PasskeyMethod, passkeyMethodShape } from './passkey-method.ts';
import { type TotpMethod, totpMethodShape } from './totp-method.ts';

export const mfaMethodShape = Type.Union([totpMethodShape, passkeyMethodShape]);
export type MfaMethod = TotpMethod | PasskeyMethod;
export type MethodType = MfaMethod['type'];
/** The method of a type. */
export type MethodOf<T extends MethodType> = Extract<MfaMethod, { readonly type: T }>;
