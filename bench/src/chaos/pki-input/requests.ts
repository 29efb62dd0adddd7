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
import type { Random } from '../random.ts';
import { damageDer, damagePem, toPem, wrongValue } from './damage.ts';

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
 * A request with a damaged inner part and a valid signature, without which a server does not parse the inner
 * part.
 */
const signedAgain = ({ csrContent, key }: Samples, random: Random): Uint8Array => {
  const damaged = damageDer(csrContent, random);
  const bits = Buffer.concat([Buffer.from([0x03, 65, 0]), sign(null, damaged, key)]);
  const body = Buffer.concat([damaged, ALGORITHM, bits]);
  return Buffer.concat([Buffer.from([0x30, ...lengthOf(body.byteLength)]), body]);
};

const csrText = (samples: Samples, random: Random): string =>
  random.once(2)
    ? toPem('CERTIFICATE REQUEST', signedAgain(samples, random))
    : damagePem('CERTIFICATE REQUEST', samples.csr, random);

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

/** Some of the parameters, with one or two wrong values. */
const parameters = (random: Random): Record<string, unknown> => {
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(NAMES)) if (random.once(3)) body[name] = value;
  for (let wrong = random.below(3); wrong > 0; wrong--)
    body[random.pick(Object.keys(NAMES))] = wrongValue(random);
  return body;
};

const base64 = (bytes: Uint8Array): string =>
  encodeURIComponent(Buffer.from(bytes).toString('base64'));

type Kind = (samples: Samples, random: Random) => BadRequest;

const post = (path: string, body: unknown): BadRequest => ({ method: 'POST', path, body });

const withCsr =
  (...paths: readonly string[]): Kind =>
  (samples, random) =>
    post(random.pick(paths), { ...parameters(random), csr: csrText(samples, random) });

/** Kinds of requests; what they name is set up by the trial. */
const KINDS: readonly Kind[] = [
  withCsr('sign/unstored', 'issuer/default/sign/unstored'),
  withCsr('sign-verbatim/unstored', 'issuer/default/sign-verbatim/unstored'),
  withCsr('root/sign-intermediate', 'issuer/default/sign-intermediate'),
  ({ certificate }, random) =>
    post(random.pick(['root/sign-self-issued', 'revoke', 'issuer/default/sign-self-issued']), {
      certificate: damagePem('CERTIFICATE', certificate, random),
    }),
  ({ certificate, privateKey }, random) =>
    post(random.pick(['config/ca', 'issuers/import/bundle', 'issuers/import/cert']), {
      pem_bundle:
        damagePem('CERTIFICATE', certificate, random) +
        (random.once(2) ? damagePem('PRIVATE KEY', privateKey, random) : ''),
    }),
  ({ privateKey }, random) =>
    post('keys/import', { pem_bundle: damagePem('PRIVATE KEY', privateKey, random) }),
  ({ certificate, privateKey }, random) =>
    post('revoke-with-key', {
      certificate: damagePem('CERTIFICATE', certificate, random),
      private_key: damagePem('PRIVATE KEY', privateKey, random),
    }),
  (_, random) =>
    post('revoke', { serial_number: Buffer.from(random.bytes(20)).toString('latin1') }),
  ({ crl }, random) =>
    post('issuer/default/resign-crls', {
      crls: [damagePem('X509 CRL', crl, random)],
      crl_number: random.once(4) ? wrongValue(random) : 1,
    }),
  (_, random) =>
    post('issuer/default/sign-revocation-list', {
      crl_number: 1,
      revoked_certs: random.once(2)
        ? wrongValue(random)
        : [{ serial_number: wrongValue(random), revocation_time: wrongValue(random) }],
      extensions: [{ id: wrongValue(random), value: wrongValue(random) }],
    }),
  ({ ocspRequest }, random) => post('ocsp', damageDer(ocspRequest, random)),
  ({ ocspRequest }, random) => ({
    method: 'GET',
    path: `ocsp/${base64(damageDer(ocspRequest, random))}`,
    body: undefined,
  }),
  (_, random) => post('issue/unstored', parameters(random)),
  (_, random) => post('roles/other', parameters(random)),
];

/** The next request of a run. */
export const badRequest = (samples: Samples, random: Random): BadRequest =>
  random.pick(KINDS)(samples, random);
