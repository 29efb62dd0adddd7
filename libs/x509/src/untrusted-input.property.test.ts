import { createPrivateKey } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  authorityInformationAccess,
  chooseSignatureScheme,
  createCertId,
  createCertificate,
  createCrl,
  createCsr,
  createKeyPair,
  createOcspResponse,
  createSigner,
  crlNumber,
  decodePem,
  encodeName,
  encodeOcspRequest,
  encodePem,
  parseCertificate,
  parseCrl,
  parseCsr,
  parseGeneralNames,
  parseName,
  parseOcspRequest,
  parseOcspResponse,
  parseOcspUrls,
  parseSerialText,
  randomSerialNumber,
  subjectAltName,
  toDistinguishedName,
  toSerialHex,
} from './x509.ts';

const pair = await createKeyPair({ type: 'ec', bits: 256 });
const signer = createSigner(
  createPrivateKey({ key: Buffer.from(pair.privateKeyDer), format: 'der', type: 'pkcs8' }),
  chooseSignatureScheme(pair.algorithm),
);
const name = encodeName(toDistinguishedName({ organization: ['A'], commonName: 'b' }));
const extensions = [subjectAltName([{ kind: 'dns', value: 'a.example' }])];
const certificate = await createCertificate(
  {
    serialNumber: randomSerialNumber(),
    issuer: name,
    subject: name,
    notBeforeMs: 0,
    notAfterMs: Date.UTC(2060, 0, 1),
    publicKeyDer: pair.publicKeyDer,
    extensions,
  },
  signer,
);
const csr = await createCsr({ subject: name, publicKeyDer: pair.publicKeyDer, extensions }, signer);
const crl = await createCrl(
  { issuer: name, thisUpdateMs: 0, nextUpdateMs: 1000, extensions: [crlNumber(1n)] },
  [{ serialNumber: randomSerialNumber(), revokedAtMs: 0 }],
  signer,
);

/** A request of openssl's, with one serial number and a nonce. */
const statusRequest = Buffer.from(
  '306f306d304630443042300906052b0e03021a05000414424ef3366d8b17e4f9865ea7849fe102ba' +
    'd1a82e0414c8bdb946b4ab2abd927ca93af7a006693fb3d25c0209008123456789abcdefa2233021' +
    '301f06092b0601050507300102041204106162835ca26928607d727b7cc8705ab3',
  'hex',
);

const certId = createCertId(
  { subject: name, publicKeyDer: pair.publicKeyDer },
  randomSerialNumber(),
);
const statusAnswer = await createOcspResponse(
  {
    responderKeyHash: Buffer.alloc(20, 1),
    producedAtMs: 0,
    thisUpdateMs: 0,
    nextUpdateMs: 1000,
    answers: [[certId, { kind: 'revoked', revokedAtMs: 0, reason: 4 }]],
    extensions: [],
  },
  signer,
);
const locations = authorityInformationAccess(['http://a.example'], ['http://b.example']).value;

/** The outcome of parsing: a result, a refusal meant for the client, or a bug. */
const outcomeOf = (read: () => unknown): unknown => {
  try {
    read();
    return 'read';
  } catch (error) {
    return error instanceof KeelsonError && error.httpStatus === 400 ? 'refused' : error;
  }
};
const HARMLESS = ['read', 'refused'];

const READERS: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  certificates: parseCertificate,
  requests: parseCsr,
  lists: parseCrl,
  'status requests': parseOcspRequest,
  'status answers': parseOcspResponse,
  locations: parseOcspUrls,
  names: parseName,
  'alternative names': parseGeneralNames,
};

const damaged = fc
  .tuple(
    fc.constantFrom(certificate, csr, crl, statusRequest, statusAnswer, locations, name),
    fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
    fc.nat(),
  )
  .map(([original, changes, cut]) => {
    const bytes = Uint8Array.from(original);
    for (const [at, value] of changes) bytes[at % bytes.byteLength] = value;
    return cut % 3 === 0 ? bytes.subarray(0, cut % bytes.byteLength) : bytes;
  });

describe('untrusted input', () => {
  test('a valid request for a status is parsed', () => {
    const { certIds, nonce } = parseOcspRequest(statusRequest);
    expect(certIds.map(({ hash, serialNumber }) => [hash, toSerialHex(serialNumber)])).toEqual([
      ['sha1', '81:23:45:67:89:ab:cd:ef'],
    ]);
    expect(nonce?.byteLength).toBeGreaterThan(0);
  });

  test('what is written about a status is read', () => {
    const hexOf = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex');
    const nonce = Buffer.alloc(32, 7);
    const request = parseOcspRequest(encodeOcspRequest(certId, nonce));
    expect([...request.certIds.map(({ der }) => hexOf(der)), hexOf(request.nonce)]).toEqual([
      hexOf(certId.der),
      hexOf(nonce),
    ]);
    const [statement] = parseOcspResponse(statusAnswer)?.statements ?? [];
    expect(statement).toMatchObject({ status: 'revoked', thisUpdateMs: 0, nextUpdateMs: 1000 });
    expect(hexOf(statement?.certId.der)).toBe(hexOf(certId.der));
    expect(parseOcspUrls(locations)).toEqual(['http://a.example']);
  });

  test.for(Object.keys(READERS))('damaged %s are refused and nothing else happens', (kind) => {
    const read = READERS[kind] as (bytes: Uint8Array) => unknown;
    fc.assert(
      fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 200 })), (bytes) => {
        expect(HARMLESS).toContain(outcomeOf(() => read(bytes)));
      }),
      propertySettings({ numRuns: 3000 }),
    );
  });

  test('any text is refused as PEM or decoded', () => {
    const pem = encodePem('CERTIFICATE', certificate);
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .tuple(fc.nat(pem.length), fc.string())
        .map(([at, inserted]) => pem.slice(0, at) + inserted + pem.slice(at)),
    );
    fc.assert(
      fc.property(text, (input) => {
        expect(HARMLESS).toContain(outcomeOf(() => decodePem(input)));
      }),
      propertySettings({ numRuns: 3000 }),
    );
    fc.assert(
      fc.property(fc.string(), (input) => {
        expect(HARMLESS).toContain(outcomeOf(() => parseSerialText(input)));
      }),
      propertySettings({ numRuns: 1000 }),
    );
  });

  test('trailing data, indefinite lengths and long forms are refused', () => {
    expect(() => parseCertificate(Buffer.concat([certificate, Buffer.of(0)]))).toThrow('trailing');
    expect(() => parseName(Uint8Array.of(0x30, 0x80, 0, 0))).toThrow('unsupported length');
    expect(() => parseName(Uint8Array.of(0x30, 0x81, 0))).toThrow('length not minimal');
  });
});
