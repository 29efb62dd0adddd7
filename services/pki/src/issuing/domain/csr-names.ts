import { KeelsonError } from '@keelson/errors';
import {
  ATTRIBUTE,
  attributeValues,
  type CsrFields,
  decodePem,
  EXTENSION,
  findExtension,
  type GeneralName,
  type ParsedCsr,
  parseCsr,
  parseGeneralNames,
  parseName,
} from '@keelson/x509';
import type { CsrNames } from './requested-names.ts';

/**
 * The request in a PEM text.
 * @throws KeelsonError `request.invalid`
 */
export const readCsrPem = (pem: string): ParsedCsr => {
  if (pem === '') throw new KeelsonError('request.invalid', { text: '"csr" is empty' });
  const [block] = decodePem(pem);
  if (block === undefined)
    throw new KeelsonError('request.invalid', { text: 'csr contains no data' });
  try {
    return parseCsr(block.der);
  } catch (error) {
    if (!(error instanceof KeelsonError) || error.code !== 'pki.malformed') throw error;
    throw new KeelsonError(
      'request.invalid',
      { text: `certificate request could not be parsed: ${error.message}` },
      { cause: error },
    );
  }
};

/** Describes a name whose form no role can allow; undefined for the others. */
const unsupportedForm = (name: GeneralName): string | undefined => {
  switch (name.kind) {
    case 'directory':
      return 'a directoryName (no role allows it)';
    case 'registeredId':
      return `the registeredID ${name.oid} (no role allows it)`;
    case 'raw':
      return 'a name of another form (no role allows it)';
    case 'dns':
    case 'email':
    case 'ip':
    case 'uri':
    case 'other':
      return undefined;
  }
};

/** The requested names. */
export const namesOfCsr = (csr: CsrFields): CsrNames => {
  const subject = parseName(csr.subject);
  const extension = findExtension(csr.extensions, EXTENSION.subjectAltName);
  const names = extension === undefined ? [] : parseGeneralNames(extension.value);
  const texts = (kind: GeneralName['kind']): readonly string[] =>
    names.flatMap((name) => (name.kind === kind && 'value' in name ? [name.value] : []));
  return {
    commonName: attributeValues(subject, ATTRIBUTE.commonName)[0] ?? '',
    serialNumber: attributeValues(subject, ATTRIBUTE.serialNumber)[0] ?? '',
    dns: texts('dns'),
    emails: texts('email'),
    ips: texts('ip'),
    uris: texts('uri'),
    others: names.flatMap((name) => (name.kind === 'other' ? [name] : [])),
    unsupported: names.flatMap((name) => unsupportedForm(name) ?? []),
  };
};
