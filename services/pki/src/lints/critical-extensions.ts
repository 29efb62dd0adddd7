import { EXTENSION, findExtension } from '@keelson/x509';
import type { Lint } from './lint.ts';

export const criticalExtensionsLint: Lint = {
  citation: 'RFC 5280 §4.2.1.9, §4.2.1.10',
  check: ({ fields: { extensions }, constraints }) => {
    const isLax = (oid: string): boolean => findExtension(extensions, oid)?.critical === false;
    if (constraints?.isCa && isLax(EXTENSION.basicConstraints))
      return 'the basic constraints of a CA certificate are not critical';
    return isLax(EXTENSION.nameConstraints) ? 'the name constraints are not critical' : undefined;
  },
};
