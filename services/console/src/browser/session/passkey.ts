/** Passkeys of this browser (WebAuthn), by its own functions. */

/** The server's question for a passkey, for one login or change. */
export type PasskeyQuestion = PublicKeyCredentialRequestOptionsJSON;
export type NewPasskeyQuestion = PublicKeyCredentialCreationOptionsJSON;

const isSupported = (): boolean =>
  typeof PublicKeyCredential === 'function' &&
  typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function';

/** The error of the browser, in words. */
const inWords = (error: unknown, domain: string): Error => {
  const name = error instanceof DOMException ? error.name : '';
  switch (name) {
    case 'SecurityError':
      return new Error(
        `The passkeys of this installation are bound to ${domain}, and this page is at ${location.host}: open the console there.`,
      );
    case 'InvalidStateError':
      return new Error('This device has a passkey for you already.');
    case 'NotSupportedError':
      return new Error('This device makes no passkey of the kinds that are asked for.');
    case 'NotAllowedError':
    case 'AbortError':
      return new Error(
        'No passkey was used: the question was turned down, has taken too long, or this device has none of your passkeys.',
      );
    default:
      return error instanceof Error ? error : new Error(String(error));
  }
};

const ask = async (domain: string, question: () => Promise<Credential | null>): Promise<object> => {
  if (!isSupported())
    throw new Error(
      'This browser has no passkeys here: they need a recent browser, and a page over HTTPS.',
    );
  try {
    const credential = await question();
    if (credential instanceof PublicKeyCredential) return credential.toJSON();
  } catch (error) {
    throw inWords(error, domain);
  }
  throw new Error('The browser has given no passkey.');
};

/** Asks the person for a passkey. @throws an Error that says why there is none */
export const presentPasskey = (options: PasskeyQuestion): Promise<object> =>
  ask(options.rpId ?? '', () =>
    navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
    }),
  );

/** Asks the person to make a passkey. @throws an Error that says why there is none */
export const makePasskey = (options: NewPasskeyQuestion): Promise<object> =>
  ask(options.rp.id ?? '', () =>
    navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
    }),
  );
