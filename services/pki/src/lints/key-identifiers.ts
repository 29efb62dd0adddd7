import { EXTENSION, findExtension } from '@keelson/x509';
import type { Lint } from './lint.ts';

export const keyIdentifiersLint: Lint = {
  citation: 'RFC 5280 §4.2.1.1, §4.2.1.2',
  check: ({ fields: { extensions, issuer, subject }, constraints }) => {
    const isSelfIssued = Buffer.from(issuer).equals(subject);
    if (constraints?.isCa && !findExtension(extensions, EXTENSION.subjectKeyIdentifier))
      return 'a CA certificate lacks the subject key identifier';
    if (!isSelfIssued && !findExtension(extensions, EXTENSION.authorityKeyIdentifier))
      return 'the authority key identifier is missing';
    return undefined;
  },
};
