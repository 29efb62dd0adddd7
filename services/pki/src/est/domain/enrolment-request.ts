/** EST requests, and the fields that a renewal must not change. */
import { KeelsonError } from '@keelson/errors';
import {
  ATTRIBUTE,
  attributeValues,
  type CsrFields,
  EXTENSION,
  type Extension,
  findExtension,
  parseCsr,
  parseGeneralNames,
  parseName,
} from '@keelson/x509';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * The request in a body: DER in base64 (RFC 8951 §3.1: whatever whitespace is in it is ignored).
 * @throws KeelsonError `request.invalid`
 */
export const readEnrolmentBody = (body: Uint8Array): { der: Uint8Array; csr: CsrFields } => {
  const text = Buffer.from(body).toString('latin1').replaceAll(/\s+/g, '');
  if (!BASE64.test(text))
    throw new KeelsonError('request.invalid', { text: 'the request is not PKCS #10 in base64' });
  const der = Buffer.from(text, 'base64');
  try {
    return { der, csr: parseCsr(der) };
  } catch (error) {
    if (!(error instanceof KeelsonError) || error.code !== 'pki.malformed') throw error;
    throw new KeelsonError(
      'request.invalid',
      { text: `the request cannot be read: ${error.message}` },
      { cause: error },
    );
  }
};

interface Named {
  readonly subject: Uint8Array;
  readonly extensions: readonly Extension[];
}

const subjectText = ({ subject }: Named): string =>
  JSON.stringify(parseName(subject).map((set) => set.map(({ type, value }) => [type, value])));

/**
 * The alternative names, including the common name: a role repeats it there, so that a client need not
 * request it again.
 */
const namesOf = ({ subject, extensions }: Named): ReadonlySet<string> => {
  const extension = findExtension(extensions, EXTENSION.subjectAltName);
  const names = extension === undefined ? [] : parseGeneralNames(extension.value);
  return new Set([
    ...attributeValues(parseName(subject), ATTRIBUTE.commonName),
    ...names.map((name) => {
      if (name.kind === 'directory') return `directory ${Buffer.from(name.name).toString('hex')}`;
      if (name.kind === 'raw') return `raw ${Buffer.from(name.element).toString('hex')}`;
      if (name.kind === 'registeredId') return `id ${name.oid}`;
      return name.kind === 'other' ? `other ${name.oid} ${name.value}` : name.value;
    }),
  ]);
};

/**
 * RFC 7030 §4.2.2: subject and alternative names are those of the certificate that is renewed.
 * @throws KeelsonError `request.invalid`
 */
export const checkRenewal = (request: Named, renewed: Named): void => {
  if (subjectText(request) !== subjectText(renewed))
    throw new KeelsonError('request.invalid', {
      text: 'the subject is not that of the certificate that is renewed',
    });
  const [asked, had] = [namesOf(request), namesOf(renewed)];
  if (asked.size !== had.size || [...asked].some((name) => !had.has(name)))
    throw new KeelsonError('request.invalid', {
      text: 'the alternative names are not those of the certificate that is renewed',
    });
};
