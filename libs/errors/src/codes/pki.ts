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
  'pki.crl_too_long': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    tell: 'the CRL would have more than max_crl_entries ({limit}) entries',
  },
  'pki.lint_failed': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    tell: 'refusing to sign: {finding} ({citation})',
  },
  'pki.policy_disabled': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    tell: 'the external policy service is not enabled in this mount',
  },
  'pki.policy_refused': {
    grpc: 'PERMISSION_DENIED',
    http: 400,
    retry: false,
    tell: 'the external policy service refused the request: {text}',
  },
  'pki.policy_unusable': {
    grpc: 'INTERNAL',
    http: 502,
    retry: false,
    tell: 'the answer of the external policy service cannot be used: {text}',
  },
  'pki.policy_unavailable': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    tell: 'the external policy service cannot be reached, or does not answer in time',
  },
  'pki.policy_overloaded': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 503,
    retry: true,
    tell: 'too many requests to the external policy service are under way',
  },
  'pki.est_disabled': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    tell: 'EST is not enabled here',
  },
  'pki.est_unknown_operation': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    tell: '"{operation}" is not served: EST has cacerts, csrattrs, simpleenroll and simplereenroll here',
  },
  'pki.est_unknown_label': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    tell: 'no mount serves EST under the label "{label}"',
  },
  'pki.est_label_missing': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    tell: 'EST is served under labels only here',
  },
  'pki.est_unauthenticated': {
    grpc: 'UNAUTHENTICATED',
    http: 401,
    retry: false,
    tell: 'enrolment needs {needed}',
  },
  'pki.est_certificate_refused': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    tell: 'the certificate of the client is no proof: {reason}',
  },
} as const satisfies Record<string, ErrorMeaning>;
