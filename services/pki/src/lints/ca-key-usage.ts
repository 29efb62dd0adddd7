import { EXTENSION, findExtension, parseKeyUsage } from '@keelson/x509';
import type { Lint } from './lint.ts';

export const caKeyUsageLint: Lint = {
  citation: 'RFC 5280 §4.2.1.3, §4.2.1.9',
  check: ({ fields: { extensions }, constraints }) => {
    const extension = findExtension(extensions, EXTENSION.keyUsage);
    const signs = extension !== undefined && parseKeyUsage(extension.value).includes('CertSign');
    if (constraints?.isCa && !signs) return 'a CA certificate lacks the CertSign key usage';
    return undefined;
  },
};
