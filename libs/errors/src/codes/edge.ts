import type { ErrorMeaning } from '../error-meaning.ts';

/** Errors of the edge and of transport, and errors that all services share. */
export const EDGE_ERRORS = {
  internal: { grpc: 'INTERNAL', http: 500, retry: false, message: 'internal error' },
  'request.invalid': { grpc: 'INVALID_ARGUMENT', http: 400, retry: false, message: '{text}' },
  'request.malformed_json': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: 'the request body is not valid JSON: {reason}',
  },
  'request.too_large': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 413,
    retry: false,
    message: 'the request body is larger than {limitBytes} bytes',
  },
  'request.bodies_under_way': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 503,
    retry: true,
    message: 'the request bodies in memory {whose} exceed {limitBytes} bytes; try again',
  },
  'request.requests_under_way': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 503,
    retry: true,
    message: 'the requests in progress {whose} exceed {limit}; try again',
  },
  'request.share_exceeded': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 429,
    retry: true,
    message:
      'more than {limit} requests of the same organization, namespace, user or address wait for their turn; try again',
  },
  'request.live_streams': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 503,
    retry: true,
    message: 'the live streams {whose} exceed {limit}; try again',
  },
  'request.head_too_large': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 431,
    retry: false,
    message: 'path, query and headers together exceed {limitBytes} bytes',
  },
  'request.unsupported_media_type': {
    grpc: 'INVALID_ARGUMENT',
    http: 415,
    retry: false,
    message: '{text}',
  },
  'request.unsupported_path': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    message: 'unsupported path',
  },
  'request.unsupported_operation': {
    grpc: 'UNIMPLEMENTED',
    http: 405,
    retry: false,
    message: 'unsupported operation',
  },
  'request.not_found': { grpc: 'NOT_FOUND', http: 404, retry: false, message: '{text}' },
  'request.cancelled': {
    grpc: 'CANCELLED',
    http: 499,
    retry: true,
    message: 'the request was cancelled',
  },
  'request.deadline_exceeded': {
    grpc: 'DEADLINE_EXCEEDED',
    http: 504,
    retry: true,
    message: 'the request took longer than its time limit',
  },
  'request.rate_limited': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 429,
    retry: true,
    message: "You have exceeded the API's rate limit.",
  },
  'request.quota_exceeded': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 429,
    retry: true,
    message: 'request path "{path}": rate limit quota exceeded',
  },
  'request.lease_quota_exceeded': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 429,
    retry: true,
    message: 'request path "{path}": lease count quota exceeded',
  },
  'edge.backend_unavailable': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: 'the {service} service cannot be reached',
  },
  'audit.not_recorded': {
    grpc: 'INTERNAL',
    http: 500,
    retry: true,
    message: 'no audit backend succeeded in logging the {kind}',
  },
  'edge.overloaded': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 503,
    retry: true,
    message: 'the {service} service is handling too many requests, try again',
  },
  'edge.protocol_violation': {
    grpc: 'INVALID_ARGUMENT',
    http: 502,
    retry: false,
    message: 'the peer broke the rules of the edge stream: {rule}',
  },
  'rpc.caller_refused': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    message: 'the service {caller} may not call {path}',
  },
  'rpc.join_refused': {
    grpc: 'UNAUTHENTICATED',
    http: 403,
    retry: false,
    message: 'neither the join token nor the certificate proves that the caller is {service}',
  },
} as const satisfies Record<string, ErrorMeaning>;
