/** The policies: what a requester may obtain, read once from a file. */
import { EXTENDED_KEY_USAGE, KEY_USAGES } from '@keelson/x509';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

const Words = (description: string, words: readonly string[]) =>
  Type.Array(Type.String({ pattern: `^(?:${words.join('|')})$` }), { description });

const Policy = Type.Object(
  {
    modes: Type.Optional(
      Words('Ways of asking that it is for; all but intermediates when not set.', [
        'issue',
        'sign',
        'acme',
        'ica',
      ]),
    ),
    allowed_names: Type.Array(Type.String(), {
      description: 'Host names and addresses; `*` matches any characters.',
    }),
    ttl_seconds: Type.Integer({ minimum: 60, description: 'Lifetime where none is asked for.' }),
    max_ttl_seconds: Type.Integer({ minimum: 60, description: 'Longest lifetime.' }),
    key_usages: Type.Optional(Words('Key usages.', KEY_USAGES)),
    extended_key_usages: Type.Optional(
      Words('Extended key usages.', Object.keys(EXTENDED_KEY_USAGE)),
    ),
    organization: Type.Optional(Type.Array(Type.String())),
    path_length: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Authorities below an intermediate.' }),
    ),
    issuer: Type.Optional(
      Type.String({ description: 'Id or name of the issuer; the one asked for when not set.' }),
    ),
    store_certificate: Type.Optional(Type.Boolean()),
    generate_lease: Type.Optional(Type.Boolean()),
    warnings: Type.Optional(Type.Array(Type.String())),
  },
  { additionalProperties: false },
);

const Rules = Type.Object(
  {
    /** Policy for requests that name none; when not set, these are refused. */
    default_policy: Type.Optional(Type.String()),
    policies: Type.Record(Type.String(), Policy),
  },
  { additionalProperties: false },
);

export type PolicyRules = Static<typeof Policy>;
export type Rules = Static<typeof Rules>;

/**
 * The rules in a JSON text.
 * @throws Error with the reason if it is invalid
 */
export const parseRules = (text: string): Rules => {
  const rules: unknown = JSON.parse(text);
  if (Value.Check(Rules, rules)) return rules;
  const [error] = [...Value.Errors(Rules, rules)];
  throw new Error(`the rules cannot be used: ${error?.instancePath ?? ''} ${error?.message ?? ''}`);
};
