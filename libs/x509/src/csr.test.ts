import { createPrivateKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { createCsr, parseCsr } from './csr.ts';
import { createKeyPair } from './keys/key-pair.ts';
import { chooseSignatureScheme, createSigner } from './keys/signature-scheme.ts';
import { encodeName } from './x509.ts';

const createRequest = async () => {
  const { algorithm, privateKeyDer, publicKeyDer } = await createKeyPair({ type: 'ec', bits: 256 });
  const key = createPrivateKey({ key: Buffer.from(privateKeyDer), format: 'der', type: 'pkcs8' });
  const signer = createSigner(key, chooseSignatureScheme(algorithm));
  const der = await createCsr({ subject: encodeName([]), publicKeyDer, extensions: [] }, signer);
  return { der: Buffer.from(der), publicKeyDer };
};

test('a request with another key is refused', async () => {
  const [one, other] = await Promise.all([createRequest(), createRequest()]);
  one.der.set(other.publicKeyDer, one.der.indexOf(one.publicKeyDer));
  expect(() => parseCsr(one.der)).toThrow('request signature invalid');
});
