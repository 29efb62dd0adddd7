/** Methods and login enforcements, as `/v1` has them. */

export const METHODS = 'identity/mfa/method';
export const TOTP = `${METHODS}/totp`;
export const PASSKEYS = `${METHODS}/webauthn`;
export const ENFORCEMENTS = 'identity/mfa/login-enforcement';

export interface Method {
  readonly type: 'totp' | 'webauthn';
  readonly id: string;
  readonly name: string;
  /** The name of the installation in authenticator apps. */
  readonly issuer?: string;
  /** The name of the installation in browsers. */
  readonly relying_party_name?: string;
}

export interface Enforcement {
  readonly name: string;
  readonly mfa_method_ids: readonly string[];
  readonly auth_method_accessors: readonly string[];
  readonly auth_method_types: readonly string[];
  readonly identity_group_ids: readonly string[];
  readonly identity_entity_ids: readonly string[];
}

export type AuthMounts = Readonly<
  Record<string, { readonly accessor: string; readonly type: string }>
>;

/** Mounts by which nobody signs in. */
const WITHOUT_LOGINS: readonly string[] = ['token', 'ns_token'];

/** The mounts by which people sign in, with their paths. */
export const loginMountsOf = (mounts: AuthMounts) =>
  Object.entries(mounts).filter(([, { type }]) => !WITHOUT_LOGINS.includes(type));

export const titleOfMethod = ({ id, name }: Method): string => (name === '' ? id : name);

/** @param name of an enforcement */
export const pathOfEnforcement = (name: string): string =>
  `${ENFORCEMENTS}/${encodeURIComponent(name)}`;

/** The path of the method. */
export const pathOfMethod = ({ type, id }: Method): string =>
  `${type === 'totp' ? TOTP : PASSKEYS}/${id}`;
