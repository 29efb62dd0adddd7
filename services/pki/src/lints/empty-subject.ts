import { EXTENSION, findExtension } from '@keelson/x509';
import type { Lint } from './lint.ts';

/** Length of the DER of a Name without attributes. */
const EMPTY_NAME_BYTES = 2;

export const emptySubjectLint: Lint = {
  citation: 'RFC 5280 §4.1.2.6, §4.2.1.6',
  check: ({ fields: { subject, extensions }, constraints }) => {
    if (subject.byteLength > EMPTY_NAME_BYTES) return undefined;
    if (constraints?.isCa) return 'the subject of a CA certificate is empty';
    const names = findExtension(extensions, EXTENSION.subjectAltName);
    if (names === undefined) return 'the subject is empty and there are no alternative names';
    return names.critical
      ? undefined
      : 'alternative names are not critical although the subject is empty';
  },
};
