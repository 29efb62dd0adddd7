import { createPrivateKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createCsr, parseCsr, parseCsrOnPool } from './csr.ts';
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

describe('a request whose signature is checked on the thread pool', () => {
  test('says what it says otherwise', async () => {
    const { der } = await createRequest();
    expect(await parseCsrOnPool(der)).toEqual(parseCsr(der));
  });

  test('is refused with the key of another', async () => {
    const [one, other] = await Promise.all([createRequest(), createRequest()]);
    one.der.set(other.publicKeyDer, one.der.indexOf(one.publicKeyDer));
    await expect(parseCsrOnPool(one.der)).rejects.toThrow('request signature invalid');
    expect(() => parseCsr(one.der)).toThrow('request signature invalid');
  });
});
