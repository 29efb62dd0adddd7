import type { Lint } from './lint.ts';

export const pathLengthLint: Lint = {
  citation: 'RFC 5280 §4.2.1.9',
  check: ({ constraints, issuerPathLength }) => {
    if (!constraints?.isCa || issuerPathLength === undefined) return undefined;
    const allowed = issuerPathLength - 1;
    return allowed < 0 || (constraints.pathLength ?? Number.POSITIVE_INFINITY) > allowed
      ? 'the path length exceeds what the issuer allows'
      : undefined;
  },
};
