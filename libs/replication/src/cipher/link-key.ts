/**
 * The key that a primary shares with one secondary: X25519 between their key pairs, HKDF-SHA256 with the
 * set as salt and the secondary's id as information. Epoch keys and the keyring are sent to a
 * secondary encrypted with it, so a removed secondary receives none. Both pairs are long-lived, so there
 * is no forward secrecy: a private key stolen later decrypts traffic recorded before.
 */
import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
} from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const linkKeyPairShape = Type.Object({
  /** 32 bytes each, base64url. */
  publicKey: Type.String(),
  privateKey: Type.String(),
});
export type LinkKeyPair = Shaped<typeof linkKeyPairShape>;

const OKP = { kty: 'OKP', crv: 'X25519' } as const;
const KEY_BYTES = 32;

/** A new X25519 pair, both halves in base64url. */
export const generateLinkKeyPair = (): LinkKeyPair => {
  const { x, d } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  return { publicKey: String(x), privateKey: String(d) };
};

export interface LinkPeers {
  readonly own: LinkKeyPair;
  readonly peerPublicKey: string;
  readonly clusterId: string;
  readonly secondaryId: string;
}

/** @throws KeelsonError `replication.malformed` for an invalid public key */
export const deriveLinkKey = ({
  own,
  peerPublicKey,
  clusterId,
  secondaryId,
}: LinkPeers): Uint8Array => {
  try {
    const shared = diffieHellman({
      privateKey: createPrivateKey({
        key: { ...OKP, x: own.publicKey, d: own.privateKey },
        format: 'jwk',
      }),
      publicKey: createPublicKey({ key: { ...OKP, x: peerPublicKey }, format: 'jwk' }),
    });
    const key = hkdfSync(
      'sha256',
      shared,
      clusterId,
      `keelson/replication/${secondaryId}`,
      KEY_BYTES,
    );
    shared.fill(0);
    return new Uint8Array(key);
  } catch (error) {
    throw new KeelsonError('replication.malformed', { reason: 'no X25519 key' }, { cause: error });
  }
};

/** The key of a filtered secondary's own stream. */
export const deriveStreamKey = (linkKey: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', linkKey, '', 'keelson/replication/stream', KEY_BYTES));
