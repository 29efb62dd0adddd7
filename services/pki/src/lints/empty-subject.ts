import { EXTENSION, findExtension } from '@keelson/x509';
import type { Lint } from './lint.ts';

/** Length of the DER of a Name without attributes. */
const EMPTY_NAME_BYTES = 2;

export const emptySubjectLint: Lint = {
  citation: 'RFC 5280 §4.2.1.6',
  check: ({ fields: { subject, extensions } }) => {
    const names = findExtension(extensions, EXTENSION.subjectAltName);
    return subject.byteLength <= EMPTY_NAME_BYTES && names?.critical === false
      ? 'alternative names are not critical although the subject is empty'
      : undefined;
  },
};
