/** Issuers of an authority as the API lists and describes them. */
import type { AddressLists } from '../address-lists.tsx';

/** An issuer in the list. */
export interface IssuerInfo {
  readonly is_default: boolean;
  readonly issuer_name: string;
  /** "" when the authority does not have its key. */
  readonly key_id: string;
  /** The common name of its certificate; "" without one. */
  readonly common_name: string;
  readonly serial_number: string;
  readonly not_after: string;
}

/** Checks of new certificates that an issuer may leave out, by their parameter. */
export const CHECKS = [
  ['disable_critical_extension_checks', 'critical extensions that the authority does not know'],
  ['disable_path_length_checks', 'the number of authorities that may follow below each other'],
  ['disable_name_checks', 'whether names of issuers and subjects fit'],
  ['disable_name_constraint_checks', 'name constraints'],
] as const;

export type Check = (typeof CHECKS)[number][0];

/** One issuer. */
export interface Issuer extends AddressLists, Readonly<Record<Check, boolean>> {
  readonly certificate: string;
  /** The certificate itself first, then those that signed it. */
  readonly ca_chain: readonly string[];
  readonly issuer_id: string;
  readonly issuer_name: string;
  readonly key_id: string;
  /** Separated by commas. */
  readonly usage: string;
  readonly leaf_not_after_behavior: string;
  readonly manual_chain: readonly string[] | null;
  /** "" for the usual one of the key. */
  readonly revocation_signature_algorithm: string;
  readonly revoked: boolean;
  readonly revocation_time_rfc3339?: string;
  readonly revocation_reason?: string;
  /** Only of an issuer with addresses of its own. */
  readonly enable_aia_url_templating?: boolean;
}

/** The fate of certificates that would outlive their issuer, by the issuer's rule. */
export const OUTLIVING: Readonly<Record<string, string>> = {
  err: 'are refused',
  truncate: 'are shortened to its validity',
  permit: 'are issued',
  always_enforce_err: 'are refused, those of authorities too',
};
