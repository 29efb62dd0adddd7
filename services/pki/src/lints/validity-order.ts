import type { Lint } from './lint.ts';

export const validityOrderLint: Lint = {
  citation: 'RFC 5280 §4.1.2.5',
  check: ({ fields: { notBeforeMs, notAfterMs } }) =>
    notAfterMs < notBeforeMs ? 'the validity ends before it begins' : undefined,
};
