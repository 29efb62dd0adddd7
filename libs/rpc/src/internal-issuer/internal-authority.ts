/**
 * The internal CA: one PEM file with its certificate and key, held by sys alone. Certificates for mTLS
 * between services and the join tokens that admit a service both come from its key.
 */
import {
  createHmac,
  createPrivateKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import {
  authorityKeyIdentifier,
  basicConstraints,
  createCertificate,
  createKeyPair,
  createRootCertificate,
  createSigner,
  decodePem,
  EXTENDED_KEY_USAGE,
  encodeName,
  encodePem,
  extendedKeyUsage,
  keyIdentifierOf,
  keyUsage,
  type ParsedCertificate,
  parseCertificate,
  randomSerialNumber,
  type Signer,
  subjectAltName,
  subjectKeyIdentifier,
  toDistinguishedName,
} from '@keelson/x509';
import { serviceDnsName } from '../tls-identity.ts';

const HOUR_MS = 3_600_000;
const AUTHORITY_LIFE_MS = 10 * 365 * 24 * HOUR_MS;
/** Lifetime of a service certificate, short to limit the use of a stolen one. */
export const CERTIFICATE_LIFE_MS = 24 * HOUR_MS;
/** Tolerance for clock differences between machines. */
const BACKDATED_MS = 60_000;

const SCHEME = 'ecdsa-sha256';

export interface InternalAuthority {
  readonly certificate: ParsedCertificate;
  readonly signer: Signer;
  /** HMAC key of the join tokens. */
  readonly joinKey: Uint8Array;
}

const wholeSeconds = (ms: number): number => Math.floor(ms / 1000) * 1000;

export const toPrivateKey = (privateKeyDer: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.from(privateKeyDer), format: 'der', type: 'pkcs8' });

/**
 * Creates a CA.
 * @returns the content of its file, which is secret
 */
export const createInternalAuthorityPem = async (nowMs: number): Promise<string> => {
  const keys = await createKeyPair({ type: 'ec', bits: 256 });
  const der = await createRootCertificate(
    {
      commonName: 'Keelson internal authority',
      notBeforeMs: wholeSeconds(nowMs - BACKDATED_MS),
      notAfterMs: wholeSeconds(nowMs + AUTHORITY_LIFE_MS),
      publicKeyDer: keys.publicKeyDer,
    },
    createSigner(toPrivateKey(keys.privateKeyDer), SCHEME),
  );
  const blocks = [encodePem('CERTIFICATE', der), encodePem('PRIVATE KEY', keys.privateKeyDer)];
  return `${blocks.join('\n')}\n`;
};

/** @throws Error when the text is not a certificate with its key */
export const parseInternalAuthority = (pem: string): InternalAuthority => {
  const blocks = decodePem(pem);
  const certificateDer = blocks.find(({ label }) => label === 'CERTIFICATE')?.der;
  const privateKeyDer = blocks.find(({ label }) => label === 'PRIVATE KEY')?.der;
  if (certificateDer === undefined || privateKeyDer === undefined) {
    throw new Error('the internal CA file must hold a CERTIFICATE and a PRIVATE KEY');
  }
  return {
    certificate: parseCertificate(certificateDer),
    signer: createSigner(toPrivateKey(privateKeyDer), SCHEME),
    joinKey: new Uint8Array(hkdfSync('sha256', privateKeyDer, '', 'keelson/join-token', 32)),
  };
};

export const authorityCertificatePem = ({ certificate }: InternalAuthority): string =>
  `${encodePem('CERTIFICATE', certificate.der)}\n`;

/** The secret that lets a process enrol as `service`, base64url. */
export const joinToken = ({ joinKey }: InternalAuthority, service: string): string =>
  createHmac('sha256', joinKey).update(service).digest('base64url');

export const isJoinToken = (
  authority: InternalAuthority,
  service: string,
  given: string,
): boolean => {
  const expected = Buffer.from(joinToken(authority, service));
  const actual = Buffer.from(given);
  return expected.byteLength === actual.byteLength && timingSafeEqual(expected, actual);
};

export interface IssuedCertificate {
  /** DER, leaf first. */
  readonly chain: readonly Uint8Array[];
  readonly notAfterMs: number;
}

/** A certificate that identifies `service`, as a client and as a server. */
export const issueServiceCertificate = async (
  { certificate: issuer, signer }: InternalAuthority,
  service: string,
  publicKeyDer: Uint8Array,
  nowMs: number,
): Promise<IssuedCertificate> => {
  const notAfterMs = wholeSeconds(Math.min(nowMs + CERTIFICATE_LIFE_MS, issuer.notAfterMs));
  const der = await createCertificate(
    {
      serialNumber: randomSerialNumber(),
      issuer: issuer.subject,
      subject: encodeName(toDistinguishedName({ commonName: service })),
      notBeforeMs: wholeSeconds(nowMs - BACKDATED_MS),
      notAfterMs,
      publicKeyDer,
      extensions: [
        basicConstraints({ isCa: false }),
        keyUsage(['DigitalSignature']),
        extendedKeyUsage([EXTENDED_KEY_USAGE.ServerAuth, EXTENDED_KEY_USAGE.ClientAuth]),
        subjectAltName([{ kind: 'dns', value: serviceDnsName(service) }]),
        subjectKeyIdentifier(keyIdentifierOf(publicKeyDer)),
        authorityKeyIdentifier(keyIdentifierOf(issuer.publicKeyDer)),
      ],
    },
    signer,
  );
  return { chain: [der, issuer.der], notAfterMs };
};
