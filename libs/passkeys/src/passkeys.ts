export {
  CHALLENGE_LASTS_MS,
  type ChallengePlace,
  newChallengeKey,
  type UsedChallenge,
  usedChallengeShape,
  withUsed,
} from './challenge.ts';
export {
  type AssertionCredential,
  assertionSchema,
  MAX_CREDENTIAL_ID,
  type Passkey,
  type PasskeyUse,
  parseAssertion,
  passkeyShape,
  passkeyUseShape,
  type RegistrationCredential,
  registrationSchema,
} from './credential.ts';
export { PasskeyRefusal } from './refusal.ts';
export { type RelyingParty, relyingPartyOf } from './relying-party.ts';
export {
  type Ceremony,
  type KnownPasskey,
  type NewPasskey,
  type RegistrationOptions,
  registrationOptions,
  type SignInOptions,
  signInOptions,
  type UserVerification,
  verifyRegistration,
  verifySignIn,
} from './verification.ts';
