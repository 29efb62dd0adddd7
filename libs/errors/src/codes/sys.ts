import type { ErrorMeaning } from '../error-meaning.ts';

/** Errors of the sys service: seal, tokens, policies, mounts, custom messages, replication. */
export const SYS_ERRORS = {
  'sys.sealed': { grpc: 'UNAVAILABLE', http: 503, retry: true, message: 'Keelson is sealed' },
  'sys.not_initialized': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: true,
    message: 'Keelson is not initialized',
  },
  'sys.not_initialized_request': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: 'server is not yet initialized',
  },
  'sys.other_store': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: false,
    message:
      'the store of the {service} service is not the one that belongs to this cluster (it is {id}, not {known}): it is empty, or of another cluster. Nothing was changed. Restore its database; or, to accept this one, start sys once with KEELSON_NEW_STORES={service}',
  },
  'sys.wrong_unseal_key': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: false,
    message: 'the unseal key is missing or does not open this cluster',
  },
  'sys.permission_denied': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    message: 'permission denied',
  },
  'sys.no_route': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    message: 'no handler for route "{path}". route entry not found.',
  },
  'sys.policy_unparsable': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: 'failed to parse policy: {reason}',
  },
  'sys.bad_token': { grpc: 'PERMISSION_DENIED', http: 403, retry: false, message: 'bad token' },
  'sys.preflight_denied': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    message:
      'preflight capability check returned 403, please ensure client\'s policies grant access to path "{path}"',
  },
  'sys.namespace_locked': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message:
      'API access to this namespace has been locked by an administrator - "{namespace}" must be unlocked to gain access.',
  },
  'sys.wrapping_token_invalid': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: 'wrapping token is not valid or does not exist',
  },
} as const satisfies Record<string, ErrorMeaning>;
