/** The credentials that browsers send, with a limit on every part, and what is stored of them. */
import type { Shaped } from '@keelson/storage/shape';
import { type Static, type TSchema, Type } from 'typebox';
import { Compile, type Validator } from 'typebox/schema';
import { PasskeyRefusal } from './refusal.ts';

/** Stored for each passkey. */
export const passkeyShape = Type.Object({
  /** As the authenticator calls it; base64url. */
  id: Type.String(),
  /** COSE key (RFC 9052 §7); base64url. */
  publicKey: Type.String(),
  /** At registration. Later ones are in the use. */
  signCount: Type.Number(),
  /** How browsers reach the authenticator. */
  transports: Type.Array(Type.String()),
  /** Whether the authenticator may copy the passkey to other devices. */
  backupEligible: Type.Boolean(),
  backedUp: Type.Boolean(),
  /** Model of the authenticator; zeros if it does not say. */
  aaguid: Type.String(),
  relyingPartyId: Type.String(),
  /** Given by the person. */
  name: Type.String(),
  createdAtMs: Type.Number(),
});
export type Passkey = Shaped<typeof passkeyShape>;

/** The part of a passkey that changes with each sign-in. */
export const passkeyUseShape = Type.Object({
  /** An authenticator that counts never signs with the same or a lower one again. */
  signCount: Type.Number(),
  backedUp: Type.Boolean(),
  lastUsedAtMs: Type.Number(),
});
export type PasskeyUse = Shaped<typeof passkeyUseShape>;

/** Length of the longest id (WebAuthn §4) in base64url. */
export const MAX_CREDENTIAL_ID = 1364;

const bytes = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$', description });

const common = {
  id: bytes(MAX_CREDENTIAL_ID, 'Id of the credential; base64url.'),
  rawId: bytes(MAX_CREDENTIAL_ID, 'As `id`.'),
  type: Type.Literal('public-key'),
} as const;

const clientDataJSON = bytes(4096, 'What the browser has asked the authenticator; base64url.');

/** `PublicKeyCredential.toJSON()` of a new passkey (RegistrationResponseJSON). Other fields are ignored. */
export const registrationSchema = Type.Object(
  {
    ...common,
    response: Type.Object({
      clientDataJSON,
      attestationObject: bytes(8192, 'The new public key; base64url.'),
      transports: Type.Optional(
        Type.Array(Type.String({ maxLength: 32, pattern: '^[a-z-]+$' }), { maxItems: 16 }),
      ),
    }),
  },
  { description: 'The new passkey, as `PublicKeyCredential.toJSON()` of the browser has it.' },
);

/** `PublicKeyCredential.toJSON()` of a sign-in (AuthenticationResponseJSON). Other fields are ignored. */
export const assertionSchema = Type.Object(
  {
    ...common,
    response: Type.Object({
      clientDataJSON,
      authenticatorData: bytes(2048, 'State of the authenticator; base64url.'),
      signature: bytes(2048, 'Base64url.'),
      userHandle: Type.Optional(Type.Union([bytes(88, 'The user; base64url.'), Type.Null()])),
    }),
  },
  { description: 'The signature, as `PublicKeyCredential.toJSON()` of the browser has it.' },
);

export type RegistrationCredential = Static<typeof registrationSchema>;
export type AssertionCredential = Static<typeof assertionSchema>;

const parser = <S extends TSchema>(schema: S): ((value: unknown) => Static<S>) => {
  // Compiled by the first credential, which few processes see.
  let validator: Validator | undefined;
  return (value) => {
    validator ??= Compile(schema) as unknown as Validator;
    if (validator.Check(value)) return value as Static<S>;
    const [fault] = validator.Errors(value)[1];
    const missing = (fault?.params as { readonly requiredProperties?: readonly string[] })
      ?.requiredProperties?.[0];
    const path = fault?.instancePath.split('/').slice(1) ?? [];
    const field = [...path, ...(missing === undefined ? [] : [missing])].join('.');
    const text = missing === undefined ? fault?.message : 'is missing';
    throw new PasskeyRefusal('malformed', field, text ?? 'is not a credential');
  };
};

/** @throws PasskeyRefusal that names the field */
export const parseRegistration = parser(registrationSchema);

/** @throws PasskeyRefusal that names the field */
export const parseAssertion = parser(assertionSchema);
