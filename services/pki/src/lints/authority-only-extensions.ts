import { EXTENSION, findExtension } from '@keelson/x509';
import type { Lint } from './lint.ts';

export const authorityOnlyExtensionsLint: Lint = {
  citation: 'RFC 5280 §4.2.1.9, §4.2.1.10',
  check: ({ fields: { extensions }, constraints }) => {
    if (constraints?.isCa) return undefined;
    if (constraints?.pathLength !== undefined)
      return 'a path length in a certificate that is not a CA certificate';
    return findExtension(extensions, EXTENSION.nameConstraints) === undefined
      ? undefined
      : 'name constraints in a certificate that is not a CA certificate';
  },
};
