import { hash, randomBytes, type X509Certificate } from 'node:crypto';
import { publicKeyOctets } from '@keelson/x509';
import type { Bench, Figure } from '../bench.ts';
import { askInTurn, measureBareFastify, measureRate } from '../http-load.ts';
import { issueCertificates } from '../issued-certificates.ts';
import { openMeasuredServer } from '../measured-server.ts';

/** One in so many is revoked. */
const REVOKED_EVERY = 100;

/** An element of fewer than 128 octets (X.690). */
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Uint8Array.of(tag, content.byteLength), content]);
};

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const OCTET_STRING = 0x04;
/** AlgorithmIdentifier of SHA-1, which clients name issuers by. */
const SHA1 = Buffer.from('300906052b0e03021a0500', 'hex');

/** Paths of requests without a nonce, as clients that fetch with GET make them. */
const requestPath = (mount: string, issuer: X509Certificate, serial: string): string => {
  const spki = issuer.publicKey.export({ type: 'spki', format: 'der' });
  const magnitude = Buffer.from(serial.replaceAll(':', ''), 'hex');
  const isPadded = ((magnitude[0] ?? 0) & 0x80) !== 0;
  const certId = der(
    SEQUENCE,
    SHA1,
    der(OCTET_STRING, hash('sha1', issuerName(issuer), 'buffer')),
    der(OCTET_STRING, hash('sha1', publicKeyOctets(spki), 'buffer')),
    der(INTEGER, isPadded ? Buffer.concat([Uint8Array.of(0), magnitude]) : magnitude),
  );
  const request = der(SEQUENCE, der(SEQUENCE, der(SEQUENCE, der(SEQUENCE, certId))));
  return `/v1/${mount}/ocsp/${encodeURIComponent(request.toString('base64'))}`;
};

/** Name of a root whose subject is one common name in a PrintableString. */
const issuerName = (issuer: X509Certificate): Buffer => {
  const commonName = Buffer.from(issuer.subject.replace('CN=', ''), 'latin1');
  const attribute = der(SEQUENCE, Buffer.from('0603550403', 'hex'), der(0x13, commonName));
  return der(SEQUENCE, der(0x31, attribute));
};

export const pkiOcsp: Bench = {
  name: 'pki-ocsp',
  claim:
    'P5: OCSP answers, 100 k certificates, 1 % revoked: >= 2 x a peer; >= 2,500/s the first time',
  method:
    'GET with the request in the path over HTTP from 64 connections, all certificates in turn, ' +
    'after each was asked for once; the limit is Fastify serving as many bytes on the same paths.',
  run: async (context) => {
    const { quick, say } = context;
    const seconds = quick ? 0.3 : 10;
    const count = quick ? 200 : 100_000;
    await using server = await openMeasuredServer(context);
    const mount = `bench-${randomBytes(4).toString('hex')}`;
    say(`issuing ${count} certificates`);
    const { issuer, serials } = await issueCertificates(server, mount, {
      count,
      revokedEvery: REVOKED_EVERY,
    });
    const paths = serials.map((serial) => requestPath(mount, issuer, serial));
    const answer = await fetch(server.url + (paths[0] ?? ''));
    const bodyBytes = (await answer.arrayBuffer()).byteLength;
    say('bare Fastify');
    const limit = await measureBareFastify(paths, bodyBytes, seconds);
    const { url, pid } = server;
    say('asking for the first time');
    const first = await askInTurn({ url, paths }, { amount: paths.length });
    say('asking again');
    const again = await measureRate({ url, paths }, seconds, pid);
    const figures: Figure[] = [
      { name: 'first', value: first.perSecond, unit: '/s', limit },
      { name: 'again (target: at least 0.5)', ...again, limit },
    ];
    return figures;
  },
};
