/** Invalid requests to a certificate authority. */
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createCsr,
  createSigner,
  encodeName,
  subjectAltName,
  toDistinguishedName,
} from '@keelson/x509';
import fc from 'fast-check';
import { oneIn, wrongValue } from '../malformed.ts';
import { damagedPem, derDamage, toPem } from './damage.ts';

export interface BadRequest {
  readonly method: string;
  readonly path: string;
  /** JSON unless bytes. */
  readonly body: unknown;
}

/** The inputs to damage: well-formed, from untrusted issuers, and the same in every run. */
export interface Samples {
  readonly csr: Uint8Array;
  /** The content of a request, to be signed again by `key`, an Ed25519 key. */
  readonly csrContent: Uint8Array;
  readonly certificate: Uint8Array;
  readonly privateKey: Uint8Array;
  readonly crl: Uint8Array;
  readonly ocspRequest: Uint8Array;
  readonly key: KeyObject;
}

/** One serial number and a nonce, as openssl writes them. */
const OCSP_REQUEST = Buffer.from(
  '306f306d304630443042300906052b0e03021a05000414424ef3366d8b17e4f9865ea7849fe102ba' +
    'd1a82e0414c8bdb946b4ab2abd927ca93af7a006693fb3d25c0209008123456789abcdefa2233021' +
    '301f06092b0601050507300102041204106162835ca26928607d727b7cc8705ab3',
  'hex',
);

/** The key of RFC 8032 §7.1, test 1, because Ed25519 signatures of the same bytes are equal. */
const SIGNING_KEY = createPrivateKey({
  key: Buffer.from(
    '302e020100300506032b6570042204209d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    'hex',
  ),
  format: 'der',
  type: 'pkcs8',
});

const stored = (name: string): Uint8Array =>
  readFileSync(join(import.meta.dirname, 'testdata', name));

/** Around the content of what `createCsr` writes for this key: SEQUENCE, algorithm, signature. */
const HEADER_BYTES = 4;
const ALGORITHM = Buffer.from('300506032b6570', 'hex');
const SIGNATURE_BYTES = 3 + 64;

export const makeSamples = async (): Promise<Samples> => {
  const names = subjectAltName([
    { kind: 'dns', value: 'a.example' },
    { kind: 'ip', value: '2001:db8::1' },
    { kind: 'uri', value: 'https://a.example/' },
    { kind: 'other', oid: '1.3.6.1.4.1.311.20.2.3', value: 'ü@example' },
  ]);
  const subject = encodeName(
    toDistinguishedName({ country: ['NL'], organization: ['A', 'Ü'], commonName: 'b.example' }),
  );
  const publicKeyDer = createPublicKey(SIGNING_KEY).export({ type: 'spki', format: 'der' });
  const signed = await createCsr(
    { subject, publicKeyDer, extensions: [names] },
    createSigner(SIGNING_KEY, 'ed25519'),
  );
  return {
    key: SIGNING_KEY,
    csrContent: signed.subarray(
      HEADER_BYTES,
      signed.byteLength - ALGORITHM.byteLength - SIGNATURE_BYTES,
    ),
    csr: stored('request.csr.der'),
    certificate: stored('authority.crt.der'),
    privateKey: stored('key.pkcs8.der'),
    crl: stored('list.crl.der'),
    ocspRequest: OCSP_REQUEST,
  };
};

/** Length octets for a length below 65,536, in the shortest form. */
const lengthOf = (length: number): readonly number[] => {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 255];
};

/**
 * Requests with a damaged inner part and a valid signature, without which a server does not parse the inner
 * part.
 */
const signedAgain = ({ csrContent, key }: Samples): fc.Arbitrary<Uint8Array> =>
  derDamage.map((damage) => {
    const content = damage(csrContent);
    const bits = Buffer.concat([Buffer.from([0x03, 65, 0]), sign(null, content, key)]);
    const body = Buffer.concat([content, ALGORITHM, bits]);
    return Buffer.concat([Buffer.from([0x30, ...lengthOf(body.byteLength)]), body]);
  });

const NAMES = {
  common_name: 'a.example',
  alt_names: 'b.example',
  ip_sans: '192.0.2.1',
  uri_sans: 'https://a.example',
  other_sans: '1.2.3;UTF8:x',
  ttl: '1h',
  not_after: '',
  serial_number: '',
  user_ids: '',
  key_usage: 'DigitalSignature',
  ext_key_usage_oids: '1.2.3',
  format: 'pem',
  private_key_format: 'der',
  permitted_dns_domains: 'example',
  permitted_ip_ranges: '10.0.0.0/8',
  max_path_length: -1,
  skid: '',
  policy_identifiers: '1.2.3',
  allowed_other_sans: '*',
  not_before_duration: 30,
  signature_bits: 0,
  use_pss: false,
  use_csr_values: false,
};

/** Some of the parameters, up to two of them with wrong values. */
const PARAMETERS: fc.Arbitrary<object> = fc
  .tuple(
    fc.subarray(Object.entries(NAMES)),
    fc.dictionary(fc.constantFrom(...Object.keys(NAMES)), wrongValue, { maxKeys: 2 }),
  )
  .map(([given, wrong]) => ({ ...Object.fromEntries(given), ...wrong }));

/** To one of the paths, which name what the trial has set up. */
const post = (paths: readonly string[], body: fc.Arbitrary<unknown>): fc.Arbitrary<BadRequest> =>
  fc.record({ method: fc.constant('POST'), path: fc.constantFrom(...paths), body });

export const badRequest = (samples: Samples): fc.Arbitrary<BadRequest> => {
  const csr = oneIn(
    2,
    signedAgain(samples).map((der) => toPem('CERTIFICATE REQUEST', der)),
    damagedPem('CERTIFICATE REQUEST', samples.csr),
  );
  const withCsr = fc.tuple(PARAMETERS, csr).map(([given, text]) => ({ ...given, csr: text }));
  const certificate = damagedPem('CERTIFICATE', samples.certificate);
  const privateKey = damagedPem('PRIVATE KEY', samples.privateKey);
  const ocspRequest = derDamage.map((damage) => damage(samples.ocspRequest));
  return fc.oneof(
    post(['sign/unstored', 'issuer/default/sign/unstored'], withCsr),
    post(['sign-verbatim/unstored', 'issuer/default/sign-verbatim/unstored'], withCsr),
    post(['root/sign-intermediate', 'issuer/default/sign-intermediate'], withCsr),
    post(
      ['root/sign-self-issued', 'revoke', 'issuer/default/sign-self-issued'],
      fc.record({ certificate }),
    ),
    post(
      ['config/ca', 'issuers/import/bundle', 'issuers/import/cert'],
      fc.record({
        pem_bundle: fc
          .tuple(certificate, oneIn(2, privateKey, fc.constant('')))
          .map((parts) => parts.join('')),
      }),
    ),
    post(['keys/import'], fc.record({ pem_bundle: privateKey })),
    post(['revoke-with-key'], fc.record({ certificate, private_key: privateKey })),
    post(
      ['revoke'],
      fc.record({ serial_number: fc.string({ unit: 'binary', maxLength: 20, size: 'max' }) }),
    ),
    post(
      ['issuer/default/resign-crls'],
      fc.record({
        crls: fc.tuple(damagedPem('X509 CRL', samples.crl)),
        crl_number: oneIn(4, wrongValue, fc.constant(1)),
      }),
    ),
    post(
      ['issuer/default/sign-revocation-list'],
      fc.record({
        crl_number: fc.constant(1),
        revoked_certs: oneIn(
          2,
          wrongValue,
          fc.tuple(fc.record({ serial_number: wrongValue, revocation_time: wrongValue })),
        ),
        extensions: fc.tuple(fc.record({ id: wrongValue, value: wrongValue })),
      }),
    ),
    post(['ocsp'], ocspRequest),
    ocspRequest.map((der) => ({
      method: 'GET',
      path: `ocsp/${encodeURIComponent(Buffer.from(der).toString('base64'))}`,
      body: undefined,
    })),
    post(['issue/unstored'], PARAMETERS),
    post(['roles/other'], PARAMETERS),
  );
};
