/** With what an OAuth client is authorized at its provider: a token that is given, or a key pair. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { attributeViolation, type Violation } from '../../../base/validation/domain/violation.ts';
import { acceptsKeyPair, type OAuthClient } from '../../model/domain/oauth-client.ts';

/** Shorter keys are no longer safe; longer ones make every request to the provider slow. */
const MIN_KEY_BITS = 2048;
const MAX_KEY_BITS = 8192;

/** One public key and nothing else, because the text is shown: a private key would be read as one too. */
const PUBLIC_KEY =
  /^\s*-----BEGIN (RSA )?PUBLIC KEY-----[\w+/=\s]+-----END (?:RSA )?PUBLIC KEY-----\s*$/;

const readKey = (read: () => KeyObject): KeyObject | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

const isOfSize = (key: KeyObject): boolean => {
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  return modulusLength >= MIN_KEY_BITS && modulusLength <= MAX_KEY_BITS;
};

const SIZES = `${MIN_KEY_BITS} to ${MAX_KEY_BITS} bits`;

/** @param secret the private key */
const findKeyPairViolations = (secret: string, rsaPublicKey: string): readonly Violation[] => {
  const privateKey = readKey(() => createPrivateKey(secret));
  const publicKey = PUBLIC_KEY.test(rsaPublicKey)
    ? readKey(() => createPublicKey(rsaPublicKey))
    : undefined;
  const violations: Violation[] = [];
  if (privateKey?.asymmetricKeyType !== 'rsa' || !isOfSize(privateKey)) {
    const text = `must be an RSA private key of ${SIZES} in PEM form, without a passphrase`;
    violations.push(attributeViolation('secret', text));
  }
  if (publicKey?.asymmetricKeyType !== 'rsa' || !isOfSize(publicKey)) {
    const text = `must be an RSA public key of ${SIZES} in PEM form ("BEGIN PUBLIC KEY")`;
    violations.push(attributeViolation('rsa-public-key', text));
  }
  if (violations.length > 0 || privateKey === undefined || publicKey === undefined)
    return violations;
  return createPublicKey(privateKey).equals(publicKey)
    ? []
    : [attributeViolation('rsa-public-key', 'must be the public key of secret')];
};

export interface Credentials
  extends Pick<OAuthClient, 'serviceProvider' | 'key' | 'secret' | 'rsaPublicKey' | 'agentPoolId'> {
  readonly hasToken: boolean;
  /** Whether it may still be without a token and without a key pair. */
  readonly mayWait?: boolean;
}

const KEY_FIELDS = { key: 'key', secret: 'secret', rsaPublicKey: 'rsa-public-key' } as const;

const findWithoutToken = (client: Credentials): readonly Violation[] => {
  const { secret, rsaPublicKey, agentPoolId } = client;
  const names = Object.keys(KEY_FIELDS) as (keyof typeof KEY_FIELDS)[];
  const missing = names.filter((name) => !client[name]);
  // It gets a token or a key pair later.
  if (missing.length === names.length) return [];
  if (missing.length > 0 || !secret || !rsaPublicKey) {
    const text =
      'is required: a client without oauth-token-string has a consumer key and a key pair';
    return missing.map((name) => attributeViolation(KEY_FIELDS[name], text));
  }
  const pointer = '/data/relationships/agent-pool/data/id';
  const text = 'agents reach a provider with an oauth-token-string only, not with a key pair';
  return [
    ...(agentPoolId === null ? [] : [{ pointer, text }]),
    ...findKeyPairViolations(secret, rsaPublicKey),
  ];
};

/** Faults in the credentials of a client, as it would be stored. */
export const findCredentialViolations = (client: Credentials): readonly Violation[] => {
  const { serviceProvider, secret, rsaPublicKey, hasToken, mayWait } = client;
  if (!hasToken) {
    if (acceptsKeyPair(serviceProvider)) return findWithoutToken(client);
    if (mayWait) return [];
    const text = 'is required: only Bitbucket Data Center authorizes clients with a key pair';
    return [attributeViolation('oauth-token-string', text)];
  }
  if (!acceptsKeyPair(serviceProvider) || (!secret && !rsaPublicKey)) return [];
  const given = secret ? 'secret' : 'rsa-public-key';
  return [attributeViolation(given, 'must be absent: the client has an oauth-token-string')];
};
