import { createPrivateKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeyPair } from './keys/key-pair.ts';
import { chooseSignatureScheme, createSigner } from './keys/signature-scheme.ts';
import {
  basicConstraints,
  createCertificate,
  EXTENDED_KEY_USAGE,
  encodeName,
  findTrustedPath,
  type ParsedCertificate,
  parseCertificate,
} from './x509.ts';

const DAY_MS = 24 * 3_600_000;

const createKey = async () => {
  const { algorithm, privateKeyDer, publicKeyDer } = await createKeyPair({ type: 'ec', bits: 256 });
  const key = createPrivateKey({ key: Buffer.from(privateKeyDer), format: 'der', type: 'pkcs8' });
  return { signer: createSigner(key, chooseSignatureScheme(algorithm)), publicKeyDer };
};

test('authorities that have signed one another in every way are not tried in every way', async () => {
  const [authority, other] = await Promise.all([createKey(), createKey()]);
  const name = encodeName([]);
  const make = async (
    serialNumber: number,
    isCa: boolean,
    { signer } = authority,
  ): Promise<ParsedCertificate> =>
    parseCertificate(
      await createCertificate(
        {
          serialNumber: Uint8Array.of(serialNumber),
          issuer: name,
          subject: name,
          notBeforeMs: 0,
          notAfterMs: DAY_MS,
          publicKeyDer: authority.publicKeyDer,
          extensions: [basicConstraints({ isCa })],
        },
        signer,
      ),
    );
  const authorities = await Promise.all(
    Array.from({ length: 12 }, (_, index) => make(index + 1, true)),
  );
  const [anchor, ...intermediates] = authorities as [ParsedCertificate, ...ParsedCertificate[]];
  const find = (certificate: ParsedCertificate) =>
    findTrustedPath(certificate, {
      anchors: [anchor],
      intermediates,
      usage: EXTENDED_KEY_USAGE.ClientAuth,
      nowMs: 1,
    });
  expect(find(await make(99, false))).toEqual([anchor]);
  // There are 11! paths, of which each ends at a signature by another key.
  expect(find(await make(99, false, other))).toBeUndefined();
});
