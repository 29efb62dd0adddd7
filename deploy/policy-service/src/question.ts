/** The part of a question of the certificate authority that the rules look at. Members beyond it are ignored. */
import { type Static, Type } from 'typebox';

export const Question = Type.Object({
  request_version: Type.Literal(1),
  request_uuid: Type.String({ minLength: 1, maxLength: 128 }),
  user_request_key_values: Type.Object({
    csr: Type.String(),
    common_name: Type.Optional(Type.String()),
    alt_names: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
    ip_sans: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
    ttl: Type.Optional(Type.Union([Type.String(), Type.Number()])),
  }),
  vault_request_values: Type.Object({
    policy_name: Type.Optional(Type.String()),
    issuance_mode: Type.String({ pattern: '^(?:issue|sign|ica|acme)$' }),
    requested_issuer_id: Type.String(),
  }),
});

export type Question = Static<typeof Question>;

/** The decision, as the certificate authority reads it. */
export interface Decision {
  readonly request_uuid: string;
  readonly error?: string;
  readonly certificate?: string;
  readonly warnings?: readonly string[];
  readonly issuer_ref?: string;
  readonly store_certificate?: boolean;
  readonly generate_lease?: boolean;
}
