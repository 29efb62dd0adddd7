import { createPrivateKey, sign, verify } from 'node:crypto';
import {
  chooseSignatureScheme,
  createCsr,
  createKeyPair,
  createSigner,
  encodeName,
  encodePem,
  parsePublicKey,
  toDistinguishedName,
} from '@keelson/x509';
import type { Bench } from '../bench.ts';
import { measureCfssl } from './cfssl-peer.ts';
import { measureThroughput } from './pki-server.ts';

const CONNECTIONS = 64;

const createRequest = async (): Promise<{ readonly pem: string; readonly limit: () => void }> => {
  const pair = await createKeyPair({ type: 'ec', bits: 256 });
  const key = createPrivateKey({
    key: Buffer.from(pair.privateKeyDer),
    format: 'der',
    type: 'pkcs8',
  });
  const subject = encodeName(toDistinguishedName({ commonName: 'a.example.com' }));
  const signer = createSigner(key, chooseSignatureScheme(pair.algorithm));
  const csr = await createCsr({ subject, publicKeyDer: pair.publicKeyDer, extensions: [] }, signer);
  const signature = sign('sha256', csr, key);
  return {
    pem: encodePem('CERTIFICATE REQUEST', csr),
    // The minimum for any signer: read the key, check the proof of possession, sign.
    limit: () => {
      verify('sha256', csr, parsePublicKey(pair.publicKeyDer), signature);
      sign('sha256', csr, key);
    },
  };
};

const perSecond = (work: () => void, seconds: number): number => {
  const startedAt = performance.now();
  let count = 0;
  for (; performance.now() - startedAt < seconds * 1000; count++) work();
  return count / ((performance.now() - startedAt) / 1000);
};

export const pkiSign: Bench = {
  name: 'pki-sign',
  claim: 'P2: sign a P-256 request, stored, standalone; >= 1.8 x a peer',
  method: `POST sign over HTTP from ${CONNECTIONS} connections; the limit is reading the key, verifying the request and one signature in a loop on one core; the peer signs the same request under the same load.`,
  run: async (context) => {
    const { pem, limit } = await createRequest();
    const limitPerSecond = perSecond(limit, context.quick ? 0.2 : 3);
    const measured = await measureThroughput({
      context,
      role: { key_type: 'ec' },
      path: 'sign/bench',
      body: { csr: pem, ttl: '1h' },
      connections: CONNECTIONS,
    });
    const asked = { certificate_request: pem, hosts: ['a.example.com'] };
    const peer = await measureCfssl(context, 'sign', asked, CONNECTIONS);
    return [
      ...(peer === undefined
        ? []
        : [{ ...measured, name: 'sign, to the peer (target: at least 2)', limit: peer }]),
      {
        ...measured,
        name: 'sign',
        limit: { name: 'key, verification, signature', value: limitPerSecond },
      },
    ];
  },
};
