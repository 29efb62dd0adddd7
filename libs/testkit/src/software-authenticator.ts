/** An authenticator in the process: makes passkeys and signs with them, as a browser and its device do together. */
import {
  AuthenticatorEmulator,
  PasskeysCredentialsMemoryRepository,
  WebAuthnEmulator,
} from 'nid-webauthn-emulator';

export interface AuthenticatorBehaviour {
  /** Whether it verifies the person, by a finger for instance. */
  readonly verifiesPerson: boolean;
  readonly touched: boolean;
  readonly algorithm: 'ES256' | 'EdDSA' | 'RS256';
  /** Added to the sign count by each signature; zero for one that does not count. */
  readonly countStep: number;
}

type Options<Method extends 'createJSON' | 'getJSON'> = Parameters<WebAuthnEmulator[Method]>[1];

export interface SoftwareAuthenticator {
  /** From now on. */
  readonly behave: (change: Partial<AuthenticatorBehaviour>) => void;
  /** `navigator.credentials.create()` of a page at the origin. */
  readonly create: (origin: string, options: object) => ReturnType<WebAuthnEmulator['createJSON']>;
  /** `navigator.credentials.get()` of a page at the origin. */
  readonly get: (origin: string, options: object) => ReturnType<WebAuthnEmulator['getJSON']>;
}

/** @param behaviour by default, a device that verifies the person and counts */
export const openSoftwareAuthenticator = (
  behaviour: Partial<AuthenticatorBehaviour> = {},
): SoftwareAuthenticator => {
  let present: AuthenticatorBehaviour = {
    verifiesPerson: true,
    touched: true,
    algorithm: 'ES256',
    countStep: 1,
    ...behaviour,
  };
  const credentialsRepository = new PasskeysCredentialsMemoryRepository();
  const open = (): WebAuthnEmulator => {
    const { verifiesPerson: uv, touched: up, algorithm, countStep } = present;
    const interaction = () => ({ options: { uv, up } });
    return new WebAuthnEmulator(
      new AuthenticatorEmulator({
        credentialsRepository,
        algorithmIdentifiers: [algorithm],
        signCounterIncrement: countStep,
        userMakeCredentialInteraction: interaction,
        userGetAssertionInteraction: interaction,
      }),
    );
  };
  return {
    behave: (change) => {
      present = { ...present, ...change };
    },
    create: (origin, options) => open().createJSON(origin, options as Options<'createJSON'>),
    get: (origin, options) => open().getJSON(origin, options as Options<'getJSON'>),
  };
};
