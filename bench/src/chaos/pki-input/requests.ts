/** Requests to a certificate authority with something wrong in them. */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import {
  basicConstraints,
  createCertificate,
  createCrl,
  createCsr,
  createKeyPair,
  createSigner,
  crlNumber,
  encodeName,
  keyUsage,
  randomSerialNumber,
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

/** What is damaged: well-formed, and made by nobody the authority trusts. */
export interface Samples {
  readonly csr: Uint8Array;
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

export const makeSamples = async (): Promise<Samples> => {
  const pair = await createKeyPair({ type: 'ec', bits: 256 });
  const key = createPrivateKey({
    key: Buffer.from(pair.privateKeyDer),
    format: 'der',
    type: 'pkcs8',
  });
  const signer = createSigner(key, 'ecdsa-sha256');
  const { publicKeyDer } = pair;
  const name = encodeName(
    toDistinguishedName({ country: ['NL'], organization: ['A', 'Ü'], commonName: 'b.example' }),
  );
  const names = subjectAltName([
    { kind: 'dns', value: 'a.example' },
    { kind: 'ip', value: '2001:db8::1' },
    { kind: 'uri', value: 'https://a.example/' },
    { kind: 'other', oid: '1.3.6.1.4.1.311.20.2.3', value: 'ü@example' },
  ]);
  const validity = { notBeforeMs: 0, notAfterMs: Date.UTC(2060, 0, 1) };
  const extensions = [basicConstraints({ isCa: true }), keyUsage(['CertSign', 'CRLSign']), names];
  return {
    key,
    csr: await createCsr({ subject: name, publicKeyDer, extensions: [names] }, signer),
    certificate: await createCertificate(
      {
        serialNumber: randomSerialNumber(),
        issuer: name,
        subject: name,
        ...validity,
        publicKeyDer,
        extensions,
      },
      signer,
    ),
    privateKey: pair.privateKeyDer,
    crl: await createCrl(
      { issuer: name, thisUpdateMs: 0, nextUpdateMs: 1000, extensions: [crlNumber(1n)] },
      [{ serialNumber: randomSerialNumber(), revokedAtMs: 0 }],
      signer,
    ),
    ocspRequest: OCSP_REQUEST,
  };
};

const lengthOf = (length: number): number[] =>
  length < 0x80 ? [length] : [0x82, length >> 8, length & 255];

/** A request whose inner part is damaged and whose signature fits: only so does a server look inside. */
const signedAgain = ({ csr, key }: Samples, random: Random): Uint8Array => {
  // SEQUENCE { content, algorithm, signature }; all lengths are those of a request of 129 to 65,535 bytes.
  const header = csr[1] === 0x82 ? 4 : 3;
  const contentHeader = csr[header + 1] === 0x82 ? 4 : csr[header + 1] === 0x81 ? 3 : 2;
  const contentLength =
    contentHeader === 2
      ? (csr[header + 1] as number)
      : contentHeader === 3
        ? (csr[header + 2] as number)
        : ((csr[header + 2] as number) << 8) | (csr[header + 3] as number);
  const content = csr.subarray(header, header + contentHeader + contentLength);
  const damaged = damageDer(content, random);
  const algorithm = Buffer.from('300a06082a8648ce3d040302', 'hex');
  const signature = sign('sha256', damaged, key);
  const bits = Buffer.concat([Buffer.from([0x03, signature.byteLength + 1, 0]), signature]);
  const body = Buffer.concat([damaged, algorithm, bits]);
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

/** Some of the parameters, one or two of them wrong. */
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
