import type { ErrorMeaning } from '../error-meaning.ts';

/** Errors of the certificate authority. */
export const PKI_ERRORS = {
  'pki.malformed': { grpc: 'INVALID_ARGUMENT', http: 400, retry: false, message: '{text}' },
  'pki.role_not_found': {
    grpc: 'NOT_FOUND',
    http: 400,
    retry: false,
    message: 'unknown role: {role}',
  },
  'pki.issuer_not_found': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    message: 'unable to find PKI issuer for reference: {reference}',
  },
  'pki.no_default_issuer': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message:
      'could not fetch the CA certificate (was one set?): no default issuer currently configured',
  },
  'pki.key_not_found': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    message: 'unable to find PKI key for reference: {reference}',
  },
  'pki.crl_too_long': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message: 'the CRL would have more than max_crl_entries ({limit}) entries',
  },
  'pki.lint_failed': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message: 'refusing to sign: {finding} ({citation})',
  },
  'pki.policy_disabled': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message: 'the external policy service is not enabled in this mount',
  },
  'pki.policy_refused': {
    grpc: 'PERMISSION_DENIED',
    http: 400,
    retry: false,
    message: 'the external policy service refused the request: {text}',
  },
  'pki.policy_unusable': {
    grpc: 'INTERNAL',
    http: 502,
    retry: false,
    message: 'the answer of the external policy service cannot be used: {text}',
  },
  'pki.policy_unavailable': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: 'the external policy service cannot be reached or did not answer in time',
  },
  'pki.policy_overloaded': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 503,
    retry: true,
    message: 'too many requests to the external policy service are in progress',
  },
  'pki.est_disabled': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    message: 'EST is not enabled here',
  },
  'pki.est_unknown_operation': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    message:
      '"{operation}" is not supported: EST here has cacerts, csrattrs, simpleenroll and simplereenroll',
  },
  'pki.est_unknown_label': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    message: 'no mount serves EST under the label "{label}"',
  },
  'pki.est_label_missing': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    message: 'EST is served here only under a label: /.well-known/est/<label>/',
  },
  'pki.est_unauthenticated': {
    grpc: 'UNAUTHENTICATED',
    http: 401,
    retry: false,
    message: 'enrolment needs {needed}',
  },
  'pki.est_certificate_refused': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    message: 'the client certificate is not accepted: {reason}',
  },
} as const satisfies Record<string, ErrorMeaning>;
