/**
 * Signatures checked on a worker thread: the same results as on the main thread, for any number of requests.
 */
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { createLogger } from '@keelson/logging';
import {
  chooseSignatureScheme,
  createCsr,
  createSigner,
  describeKey,
  encodeName,
} from '@keelson/x509';
import { afterAll, describe, expect, test } from 'vitest';
import { type CheckedSignature, checkSignature, type SignatureJob } from './check-signature.ts';
import { parseJws, type SignedText, signedTextOf } from './jws.ts';
import { parsePublicJwk } from './public-jwk.ts';
import { createSignatureChecks, openSignaturePool } from './signature-checks.ts';

const spkiOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

interface Client {
  readonly publicKey: string;
  sign(payload: string): SignedText;
}

const clientWith = (alg: string, privateKey: KeyObject, hash: string | null): Client => {
  const publicKey = createPublicKey(privateKey);
  const jwk = parsePublicJwk(publicKey.export({ format: 'jwk' }));
  return {
    publicKey: spkiOf(publicKey).toString('latin1'),
    sign: (payload) => {
      const members = {
        protected: Buffer.from(JSON.stringify({ alg })).toString('base64url'),
        payload: Buffer.from(payload).toString('base64url'),
      };
      const text = Buffer.from(`${members.protected}.${members.payload}`);
      const signature = sign(hash, text, { key: privateKey, dsaEncoding: 'ieee-p1363' });
      const jws = parseJws({ ...members, signature: signature.toString('base64url') });
      return signedTextOf(jws, jwk);
    },
  };
};

const onCurve = (namedCurve: string): KeyObject =>
  generateKeyPairSync('ec', { namedCurve }).privateKey;

const KINDS: readonly (readonly [string, string | null, () => KeyObject])[] = [
  ['ES256', 'sha256', () => onCurve('P-256')],
  ['ES384', 'sha384', () => onCurve('P-384')],
  ['ES512', 'sha512', () => onCurve('P-521')],
  ['EdDSA', null, () => generateKeyPairSync('ed25519').privateKey],
  ['RS256', 'sha256', () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
];
const clients = KINDS.map(([alg, hash, createKey]) => ({
  ...clientWith(alg, createKey(), hash),
  anotherKey: spkiOf(createPublicKey(createKey())).toString('latin1'),
}));

const requestOf = async (): Promise<Uint8Array> => {
  const privateKey = onCurve('P-256');
  const signer = createSigner(privateKey, chooseSignatureScheme(describeKey(privateKey)));
  const publicKeyDer = spkiOf(createPublicKey(privateKey));
  return createCsr({ subject: encodeName([]), publicKeyDer, extensions: [] }, signer);
};

describe('a worker thread that checks signatures', () => {
  const pool = openSignaturePool(createLogger({ name: 'test', level: 'silent' }));
  afterAll(() => pool.end(new Error('over')));

  test('answers each of many with its own result', { timeout: 60_000 }, async () => {
    await pool.whenStarted();
    const der = await requestOf();
    const jobs: SignatureJob[] = Array.from({ length: 20 }, (_, round) => round).flatMap(
      (round) => [
        ...clients.flatMap((client): SignatureJob[] => [
          { kind: 'jws', signed: client.sign(`${round}`), publicKey: client.publicKey },
          // A signature of another payload, and one by another key.
          {
            kind: 'jws',
            signed: { ...client.sign(`${round}`), text: client.sign('other').text },
            publicKey: client.publicKey,
          },
          {
            kind: 'jws',
            signed: client.sign(`${round}`),
            publicKey: client.anotherKey,
          },
        ]),
        { kind: 'csr', der },
      ],
    );
    const answers: Promise<CheckedSignature>[] = [];
    for (const [at, job] of jobs.entries()) {
      answers.push(pool.run(job));
      // Some arrive in the same turn of the event loop, others while the thread is busy.
      if (at % 7 === 0) await setImmediate();
    }
    expect(await Promise.all(answers)).toEqual(jobs.map(checkSignature));
  });

  test('reports what is wrong with a request, and continues', { timeout: 60_000 }, async () => {
    await pool.whenStarted();
    const der = await requestOf();
    await expect(pool.run({ kind: 'csr', der: der.slice(0, -1) })).rejects.toMatchObject({
      code: 'pki.malformed',
    });
    const forged = Uint8Array.from(der);
    // The version, after two SEQUENCE headers and the header of the INTEGER.
    forged[forged.indexOf(0x02) + 2] = 1;
    await expect(pool.run({ kind: 'csr', der: forged })).rejects.toMatchObject({
      code: 'pki.malformed',
    });
    expect(await pool.run({ kind: 'csr', der })).toMatchObject({ kind: 'csr' });
  });
});

test('gives the same results on any thread, and after the thread ended', {
  timeout: 60_000,
}, async () => {
  const stopping = new AbortController();
  const logger = createLogger({ name: 'test', level: 'silent' });
  const checks = createSignatureChecks({ logger, stopping: stopping.signal });
  const client = clientWith('ES256', onCurve('P-256'), 'sha256');
  const signed = client.sign('{}');
  // The first one is checked on the main thread, and starts the worker.
  for (let count = 0; count < 2; count += 1) {
    expect(await checks.isSigned(signed, client.publicKey)).toBe(true);
    expect(await checks.isSigned({ ...signed, text: 'a.b' }, client.publicKey)).toBe(false);
    // A pool that was started later is ready.
    const later = openSignaturePool(logger);
    await later.whenStarted();
    await later.end(new Error('over'));
  }
  const der = await requestOf();
  // Part of a larger buffer, as decoded requests are.
  const within = Buffer.concat([Buffer.alloc(100), der, Buffer.alloc(100)]).subarray(100, -100);
  expect((await checks.readCsr(within)).publicKeyDer.byteLength).toBe(91);
  stopping.abort(new Error('over'));
  expect(await checks.isSigned(signed, client.publicKey)).toBe(true);
});
