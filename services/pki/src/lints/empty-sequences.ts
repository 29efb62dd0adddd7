import { EXTENSION, findExtension, parseExtendedKeyUsage } from '@keelson/x509';
import type { Lint } from './lint.ts';

export const emptySequencesLint: Lint = {
  citation: 'RFC 5280 §4.2.1.6, §4.2.1.12',
  check: ({ fields: { extensions }, alternatives }) => {
    if (alternatives?.length === 0) return 'the alternative names are empty';
    const extended = findExtension(extensions, EXTENSION.extendedKeyUsage);
    return extended !== undefined && parseExtendedKeyUsage(extended.value).length === 0
      ? 'the extended key usages are empty'
      : undefined;
  },
};
