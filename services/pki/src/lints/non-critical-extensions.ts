import { EXTENSION } from '@keelson/x509';
import type { Lint } from './lint.ts';

/** A relying party that cannot read them must still be able to use the certificate. */
const NEVER_CRITICAL: readonly string[] = [
  EXTENSION.authorityKeyIdentifier,
  EXTENSION.subjectKeyIdentifier,
  EXTENSION.freshestCrl,
  EXTENSION.authorityInformationAccess,
];

export const nonCriticalExtensionsLint: Lint = {
  citation: 'RFC 5280 §4.2.1.1, §4.2.1.2, §4.2.1.15, §4.2.2.1',
  check: ({ fields: { extensions } }) => {
    const found = extensions.find(({ oid, critical }) => critical && NEVER_CRITICAL.includes(oid));
    return found && `extension ${found.oid} must not be critical`;
  },
};
