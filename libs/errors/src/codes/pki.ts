import type { ErrorMeaning } from '../error-meaning.ts';

/** Errors of the certificate authority. */
export const PKI_ERRORS = {
  'pki.malformed': { grpc: 'INVALID_ARGUMENT', http: 400, retry: false, tell: '{text}' },
  'pki.role_not_found': {
    grpc: 'NOT_FOUND',
    http: 400,
    retry: false,
    tell: 'unknown role: {role}',
  },
  'pki.issuer_not_found': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    tell: 'unable to find PKI issuer for reference: {reference}',
  },
  'pki.no_default_issuer': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    tell: 'could not fetch the CA certificate (was one set?): no default issuer currently configured',
  },
  'pki.key_not_found': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    tell: 'unable to find PKI key for reference: {reference}',
  },
  'pki.lint_failed': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    tell: 'refusing to sign: {finding} ({citation})',
  },
} as const satisfies Record<string, ErrorMeaning>;
