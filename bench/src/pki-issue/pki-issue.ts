import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { Bench } from '../bench.ts';
import { measureCfssl } from './cfssl-peer.ts';
import { measureThroughput } from './pki-server.ts';

const CONNECTIONS = 64;

const PEER_REQUEST = {
  CN: 'a.example.com',
  hosts: ['a.example.com'],
  key: { algo: 'ecdsa', size: 256 },
  names: [{ O: 'Bench' }],
};

/** Certificates per second that one core could make: key, export and signature in one loop. */
const measureLimit = (seconds: number): number => {
  const issuer = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const tbs = randomBytes(600);
  const startedAt = performance.now();
  let count = 0;
  while (performance.now() - startedAt < seconds * 1000) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    privateKey.export({ type: 'sec1', format: 'pem' });
    publicKey.export({ type: 'spki', format: 'der' });
    sign('sha256', tbs, issuer.privateKey);
    count++;
  }
  return count / ((performance.now() - startedAt) / 1000);
};

export const pkiIssue: Bench = {
  name: 'pki-issue',
  claim:
    'P1: issue a stored P-256 leaf, standalone, at >= 2 x a peer; P17: at most 350 MB of memory',
  method: `POST issue over HTTP from ${CONNECTIONS} connections in a process apart from the server; the limit is one loop on one core, before it; the peer makes key and certificate too, under the same load.`,
  run: async (context) => {
    const limit = measureLimit(context.quick ? 0.2 : 3);
    const measured = await measureThroughput({
      context,
      role: { key_type: 'ec' },
      path: 'issue/bench',
      body: { common_name: 'a.example.com', ttl: '1h' },
      connections: CONNECTIONS,
    });
    const peer = await measureCfssl(context, 'newcert', { request: PEER_REQUEST }, CONNECTIONS);
    return [
      {
        ...measured,
        name: 'issue',
        limit: { name: 'key, export, signature', value: limit },
      },
      ...(peer === undefined
        ? []
        : [{ ...measured, name: 'issue, to the peer (target: at least 2)', limit: peer }]),
    ];
  },
};
