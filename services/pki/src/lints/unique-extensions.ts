import type { Lint } from './lint.ts';

export const uniqueExtensionsLint: Lint = {
  citation: 'RFC 5280 §4.2',
  check: ({ fields: { extensions } }) =>
    new Set(extensions.map(({ oid }) => oid)).size < extensions.length
      ? 'an extension occurs twice'
      : undefined,
};
