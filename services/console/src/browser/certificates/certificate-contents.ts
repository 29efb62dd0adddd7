/** Readable contents of certificates and revocation lists. Loaded with the pages that show them. */
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509Crl,
} from '@peculiar/x509';

/** Names of extensions by their object identifiers (RFC 5280 §4.2, RFC 6960, RFC 6962, RFC 7633). */
const NAMES: Readonly<Record<string, string>> = {
  '2.5.29.14': 'Subject key identifier',
  '2.5.29.15': 'Key usage',
  '2.5.29.17': 'Subject alternative names',
  '2.5.29.18': 'Issuer alternative names',
  '2.5.29.19': 'Basic constraints',
  '2.5.29.30': 'Name constraints',
  '2.5.29.31': 'Revocation lists',
  '2.5.29.32': 'Certificate policies',
  '2.5.29.35': 'Authority key identifier',
  '2.5.29.36': 'Policy constraints',
  '2.5.29.37': 'Extended key usage',
  '2.5.29.46': 'Newest changes to revocation lists',
  '2.5.29.54': 'Inhibit any policy',
  '1.3.6.1.5.5.7.1.1': 'Where its issuer answers',
  '1.3.6.1.5.5.7.1.24': 'Must staple',
  '1.3.6.1.4.1.11129.2.4.2': 'Signed certificate timestamps',
};

const USAGES: readonly (readonly [KeyUsageFlags, string])[] = [
  [KeyUsageFlags.digitalSignature, 'digital signature'],
  [KeyUsageFlags.nonRepudiation, 'content commitment'],
  [KeyUsageFlags.keyEncipherment, 'key encipherment'],
  [KeyUsageFlags.dataEncipherment, 'data encipherment'],
  [KeyUsageFlags.keyAgreement, 'key agreement'],
  [KeyUsageFlags.keyCertSign, 'signing certificates'],
  [KeyUsageFlags.cRLSign, 'signing revocation lists'],
  [KeyUsageFlags.encipherOnly, 'encipherment only'],
  [KeyUsageFlags.decipherOnly, 'decipherment only'],
];

const PURPOSES: Readonly<Record<string, string>> = {
  '1.3.6.1.5.5.7.3.1': 'servers (TLS)',
  '1.3.6.1.5.5.7.3.2': 'clients (TLS)',
  '1.3.6.1.5.5.7.3.3': 'signing code',
  '1.3.6.1.5.5.7.3.4': 'mail (S/MIME)',
  '1.3.6.1.5.5.7.3.8': 'time stamps',
  '1.3.6.1.5.5.7.3.9': 'signing OCSP answers',
};

export interface ShownExtension {
  readonly oid: string;
  readonly name: string;
  readonly isCritical: boolean;
  /** One line each. */
  readonly lines: readonly string[];
}

const linesOf = (extension: Extension): readonly string[] => {
  if (extension instanceof KeyUsagesExtension)
    return USAGES.filter(([flag]) => (extension.usages & flag) !== 0).map(([, words]) => words);
  if (extension instanceof ExtendedKeyUsageExtension)
    return extension.usages.map((usage) => PURPOSES[String(usage)] ?? String(usage));
  if (extension instanceof BasicConstraintsExtension)
    return [
      extension.ca ? 'an authority' : 'not an authority',
      ...(extension.pathLength === undefined
        ? []
        : [`at most ${extension.pathLength} authorities below it`]),
    ];
  if (extension instanceof SubjectAlternativeNameExtension)
    return extension.names.items.map(({ type, value }) => `${type}: ${value}`);
  if (extension instanceof SubjectKeyIdentifierExtension) return [extension.keyId];
  if (extension instanceof AuthorityKeyIdentifierExtension)
    return extension.keyId === undefined ? ['–'] : [extension.keyId];
  // The library's own text, without the name and the mark of a critical extension in its first line.
  const [, ...lines] = extension.toString('text').split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '');
};

export interface CertificateContents {
  readonly subject: string;
  /** undefined if the subject has none. */
  readonly commonName: string | undefined;
  readonly issuer: string;
  readonly signature: string;
  readonly key: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly extensions: readonly ShownExtension[];
}

const algorithmText = (algorithm: Algorithm): string => {
  const { name, namedCurve, modulusLength, hash } = algorithm as {
    name: string;
    namedCurve?: string;
    modulusLength?: number;
    hash?: { name: string };
  };
  // WebCrypto names RSA keys by the scheme of their signatures.
  const short = name.startsWith('RSA') ? 'RSA' : name;
  return [short, namedCurve, modulusLength?.toString(), hash?.name].filter(Boolean).join(' ');
};

/** @throws Error when the text is not a certificate */
export const certificateContents = (pem: string): CertificateContents => {
  const certificate = new X509Certificate(pem);
  return {
    subject: certificate.subject,
    commonName: certificate.subjectName.getField('CN')[0],
    issuer: certificate.issuer,
    signature: algorithmText(certificate.signatureAlgorithm),
    key: algorithmText(certificate.publicKey.algorithm),
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    extensions: certificate.extensions.map((extension) => ({
      oid: extension.type,
      name: NAMES[extension.type] ?? extension.type,
      isCritical: extension.critical,
      lines: linesOf(extension),
    })),
  };
};

/** Parts of a subject by their parameters of the engine. */
const SUBJECT_FIELDS = [
  ['common_name', 'CN'],
  ['organization', 'O'],
  ['ou', 'OU'],
  ['country', 'C'],
  ['locality', 'L'],
  ['province', 'ST'],
  ['street_address', 'STREET'],
] as const;

/** The subject of a certificate as parameters of a request. */
export const subjectFields = (pem: string): Readonly<Record<string, string>> => {
  const { subjectName } = new X509Certificate(pem);
  return Object.fromEntries(
    SUBJECT_FIELDS.map(
      ([name, part]) => [name, subjectName.getField(part).join(',')] as const,
    ).filter(([, value]) => value !== ''),
  );
};

export interface ListContents {
  readonly issuer: string;
  readonly madeAt: Date;
  readonly nextAt: Date | undefined;
  readonly count: number;
}

/** @throws Error when the text is not a revocation list */
export const listContents = (pem: string): ListContents => {
  const list = new X509Crl(pem);
  return {
    issuer: list.issuer,
    madeAt: list.thisUpdate,
    nextAt: list.nextUpdate,
    count: list.entries.length,
  };
};

/** Whether a certificate in PEM certifies an authority. */
export const isAuthority = (pem: string): boolean =>
  new X509Certificate(pem).getExtension(BasicConstraintsExtension)?.ca === true;
