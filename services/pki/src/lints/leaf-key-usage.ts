import { EXTENSION, findExtension, parseKeyUsage } from '@keelson/x509';
import type { Lint } from './lint.ts';

export const leafKeyUsageLint: Lint = {
  citation: 'RFC 5280 §4.2.1.3, §4.2.1.9',
  check: ({ fields: { extensions }, constraints }) => {
    const extension = findExtension(extensions, EXTENSION.keyUsage);
    if (extension === undefined) return undefined;
    const usages = parseKeyUsage(extension.value);
    if (usages.length === 0) return 'the key usage extension names no usage';
    return !constraints?.isCa && usages.includes('CertSign')
      ? 'the CertSign key usage in a certificate that is not a CA certificate'
      : undefined;
  },
};
