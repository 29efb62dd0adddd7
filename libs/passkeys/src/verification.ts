/** Options for browsers, and the verification of what they answer, by @simplewebauthn/server. */
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import {
  CHALLENGE_LASTS_MS,
  type ChallengePlace,
  newChallenge,
  openChallenge,
  type UsedChallenge,
} from './challenge.ts';
import {
  type AssertionCredential,
  type Passkey,
  type PasskeyUse,
  parseRegistration,
  type RegistrationCredential,
} from './credential.ts';
import { PasskeyRefusal, type RefusalReason } from './refusal.ts';
import type { RelyingParty } from './relying-party.ts';

/** Whether the authenticator must know the person, by a finger or PIN, or may do with a touch. */
export type UserVerification = 'required' | 'preferred';

/** A challenge that was or will be made for a place, with the key of the service. */
export interface Ceremony {
  readonly party: RelyingParty;
  readonly userVerification: UserVerification;
  readonly key: string;
  readonly place: ChallengePlace;
  readonly nowMs: number;
}

export interface PasskeyUser {
  /** Opaque, at most 64 bytes, and never of another person. */
  readonly handle: string;
  readonly name: string;
  readonly displayName: string;
}

export type RegistrationOptions = PublicKeyCredentialCreationOptionsJSON;
export type SignInOptions = PublicKeyCredentialRequestOptionsJSON;

/** A passkey that its owner has not named yet. */
export type NewPasskey = Omit<Passkey, 'name' | 'createdAtMs'>;

// Loaded by the first passkey, which few processes see: each library costs memory.
const loadServer = () => import('@simplewebauthn/server');
const loadHelpers = () => import('@simplewebauthn/server/helpers');

/** EdDSA, ES256, RS256 (RFC 9053, RFC 8812), the preferred one first. */
const ALGORITHMS = [-8, -7, -257];

const toBytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.from(text, 'base64url'));

const utf8 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(text));

const challengeOf = ({ key, place, nowMs }: Ceremony): Uint8Array<ArrayBuffer> =>
  toBytes(newChallenge(key, place, nowMs));

type Descriptors = NonNullable<
  Parameters<
    Awaited<ReturnType<typeof loadServer>>['generateAuthenticationOptions']
  >[0]['allowCredentials']
>;

/** The passkeys that are of use at the relying party. */
const descriptorsOf = (party: RelyingParty, passkeys: readonly Passkey[]): Descriptors =>
  passkeys
    .filter(({ relyingPartyId }) => relyingPartyId === party.id)
    .map(({ id, transports }) => ({ id, transports: [...transports] as never }));

/**
 * Asks a browser for a new passkey.
 * @param known those that the person has, whose authenticators make no other
 * @param residentKey required for one that its authenticator finds where the page names none
 */
export const registrationOptions = async (
  ceremony: Ceremony,
  user: PasskeyUser,
  known: readonly Passkey[],
  residentKey: 'preferred' | 'required' = 'preferred',
): Promise<RegistrationOptions> => {
  const { party, userVerification } = ceremony;
  const { generateRegistrationOptions } = await loadServer();
  return generateRegistrationOptions({
    rpName: party.name,
    rpID: party.id,
    userID: utf8(user.handle),
    userName: user.name,
    userDisplayName: user.displayName,
    challenge: challengeOf(ceremony),
    timeout: CHALLENGE_LASTS_MS,
    attestationType: 'none',
    excludeCredentials: descriptorsOf(party, known),
    authenticatorSelection: { residentKey, userVerification },
    supportedAlgorithmIDs: ALGORITHMS,
  });
};

/**
 * Asks a browser to sign in with one of the passkeys.
 * @param passkeys undefined for whichever the person chooses, who is known by the user handle then
 */
export const signInOptions = async (
  ceremony: Ceremony,
  passkeys: readonly Passkey[] | undefined,
): Promise<SignInOptions> => {
  const { party, userVerification } = ceremony;
  const { generateAuthenticationOptions } = await loadServer();
  return generateAuthenticationOptions({
    rpID: party.id,
    challenge: challengeOf(ceremony),
    timeout: CHALLENGE_LASTS_MS,
    userVerification,
    ...(passkeys !== undefined && { allowCredentials: descriptorsOf(party, passkeys) }),
  });
};

/** The library says in words what it refuses. Anything else is a credential that it could not read. */
const REFUSALS: readonly (readonly [RegExp, RefusalReason, string, string])[] = [
  [/ origin /, 'origin', 'response.clientDataJSON', 'the origin is not one of this installation'],
  [
    /challenge/i,
    'challenge',
    'response.clientDataJSON',
    'the challenge has expired, or was not made for this: begin again',
  ],
  [/RP ID/, 'relying-party', 'response', 'the passkey is of another relying party'],
  [/not present/, 'user-presence', 'response', 'nobody has touched the authenticator'],
  [
    /verif(?:ied|ication required)/,
    'user-verification',
    'response',
    'the authenticator has not verified the person, by a finger or PIN for instance',
  ],
  [
    /public key alg/,
    'algorithm',
    'response.attestationObject',
    'the algorithm of the passkey was not offered',
  ],
  [
    /counter/,
    'sign-count',
    'response.authenticatorData',
    'the authenticator has counted back, as a copy of it would: remove the passkey',
  ],
];

const toRefusal = (error: unknown): PasskeyRefusal => {
  if (error instanceof PasskeyRefusal) return error;
  const text = error instanceof Error ? error.message : '';
  const [, reason, field, message] = REFUSALS.find(([pattern]) => pattern.test(text)) ?? [];
  return reason === undefined || field === undefined || message === undefined
    ? new PasskeyRefusal('malformed', 'response', 'the credential cannot be read')
    : new PasskeyRefusal(reason, field, message);
};

const refusing = async <T>(verify: () => Promise<T>): Promise<T> => {
  try {
    return await verify();
  } catch (error) {
    throw toRefusal(error);
  }
};

/** Opens the challenge of a credential, and remembers it. */
const watchChallenge = ({ key, place, nowMs }: Ceremony) => {
  let opened: UsedChallenge | undefined;
  return {
    expected: (challenge: string): boolean =>
      (opened = openChallenge(key, place, challenge, nowMs)) !== undefined,
    require: (): UsedChallenge => {
      if (opened === undefined) throw new Error('challenge');
      return opened;
    },
  };
};

/** Statements of makers would have their certificates fetched and verified; browsers send none unless asked. */
const requireNoStatement = async ({ response }: RegistrationCredential): Promise<void> => {
  const { decodeAttestationObject } = await loadHelpers();
  const attestation = decodeAttestationObject(toBytes(response.attestationObject));
  const format = attestation.get('fmt');
  const isOwn = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  if (format !== 'none' && !isOwn)
    throw new PasskeyRefusal(
      'attestation',
      'response.attestationObject',
      'a statement about the authenticator was not asked for',
    );
};

/**
 * Verifies a new passkey.
 * @param value as the browser has sent it
 * @returns with the challenge, which the caller stores as used in the transaction that stores the passkey
 * @throws PasskeyRefusal
 */
export const verifyRegistration = async (
  ceremony: Ceremony,
  value: unknown,
): Promise<{ readonly passkey: NewPasskey; readonly challenge: UsedChallenge }> => {
  const { party, userVerification } = ceremony;
  const credential = parseRegistration(value);
  const { verifyRegistrationResponse } = await loadServer();
  return refusing(async () => {
    await requireNoStatement(credential);
    const challenge = watchChallenge(ceremony);
    const { verified, registrationInfo: info } = await verifyRegistrationResponse({
      response: { ...credential, clientExtensionResults: {} } as RegistrationResponseJSON,
      expectedChallenge: challenge.expected,
      expectedOrigin: [...party.origins],
      expectedRPID: party.id,
      requireUserVerification: userVerification === 'required',
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified || info.credential.id !== credential.id)
      throw new PasskeyRefusal('malformed', 'id', 'the id is not that of the new passkey');
    const passkey: NewPasskey = {
      id: info.credential.id,
      publicKey: Buffer.from(info.credential.publicKey).toString('base64url'),
      signCount: info.credential.counter,
      transports: [...new Set(credential.response.transports ?? [])],
      backupEligible: info.credentialDeviceType === 'multiDevice',
      backedUp: info.credentialBackedUp,
      aaguid: info.aaguid,
      relyingPartyId: party.id,
    };
    return { passkey, challenge: challenge.require() };
  });
};

/** The passkey with which a person has signed in, and whose it is. */
export interface KnownPasskey {
  readonly passkey: Passkey;
  /** Undefined until its first use. */
  readonly use: PasskeyUse | undefined;
  /** The handles with which the person may have registered it; a credential that names another one is refused. */
  readonly userHandles: readonly string[];
}

/**
 * Verifies a sign-in.
 * @param credential from `parseAssertion`, whose `id` has led to the passkey
 * @returns with the challenge, which the caller stores as used in the transaction that stores the use
 * @throws PasskeyRefusal
 */
export const verifySignIn = async (
  ceremony: Ceremony,
  credential: AssertionCredential,
  { passkey, use, userHandles }: KnownPasskey,
): Promise<{ readonly use: PasskeyUse; readonly challenge: UsedChallenge }> => {
  const { party, userVerification, nowMs } = ceremony;
  const { verifyAuthenticationResponse } = await loadServer();
  return refusing(async () => {
    const { userHandle: given, ...response } = credential.response;
    if (credential.id !== passkey.id)
      throw new PasskeyRefusal('user', 'id', 'the passkey is another one');
    const named = typeof given === 'string' ? Buffer.from(given, 'base64url') : undefined;
    if (named !== undefined && !userHandles.some((handle) => named.equals(utf8(handle))))
      throw new PasskeyRefusal('user', 'response.userHandle', 'the passkey is of somebody else');
    const challenge = watchChallenge(ceremony);
    const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
      response: {
        ...credential,
        response,
        clientExtensionResults: {},
      } as AuthenticationResponseJSON,
      expectedChallenge: challenge.expected,
      expectedOrigin: [...party.origins],
      expectedRPID: party.id,
      requireUserVerification: userVerification === 'required',
      credential: {
        id: passkey.id,
        publicKey: toBytes(passkey.publicKey),
        counter: (use ?? passkey).signCount,
      },
    });
    if (!verified)
      throw new PasskeyRefusal('signature', 'response.signature', 'the signature is wrong');
    return {
      use: { signCount: info.newCounter, backedUp: info.credentialBackedUp, lastUsedAtMs: nowMs },
      challenge: challenge.require(),
    };
  });
};
