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
  'sys.mfa_failed': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    message: 'login MFA validation failed: {text}',
  },
  'sys.permission_denied': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    message: 'permission denied',
  },
  // Begins like the other, because clients look for these words.
  'sys.token_required': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    message:
      'permission denied: a valid token of /v1 is required (X-Service-Token: TOKEN); tokens of /api/v2 are not known here',
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
  'sys.snapshot_foreign': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: 'the body is not a snapshot of Keelson: {reason}',
  },
  'sys.snapshot_damaged': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: 'the snapshot is damaged or incomplete: {reason}. Nothing was changed.',
  },
  'sys.batch_token_unknown_format': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    message: 'the batch token has format {found}, this version of Keelson reads format {known}',
  },
  'sys.snapshot_unknown_format': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message:
      'the snapshot has format {found} and was made by Keelson {version}; this version reads format {known}',
  },
  'sys.snapshot_other_keys': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message:
      'could not verify hash file, possibly the snapshot is using a different set of unseal keys; use the snapshot-force API to bypass this check. Nothing was changed.',
  },
  'sys.snapshot_unreadable_record': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message:
      'the record {path} of the snapshot, which Keelson {version} made, cannot be read here: {fault}. Nothing was changed. {remedy}',
  },
  'sys.snapshot_half_restored': {
    grpc: 'INTERNAL',
    http: 500,
    retry: true,
    message:
      'the records of {done} were restored, those of {service} were not ({reason}). Restore the same snapshot again.',
  },
  'sys.snapshot_no_space': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 507,
    retry: true,
    message:
      'replacing the records needs {neededBytes} bytes of free disk, and there are {freeBytes}. Nothing was changed. Make room, then restore the same snapshot again.',
  },
  'sys.snapshot_busy': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: '{what} is in progress; try again when it has ended',
  },
  'sys.snapshot_on_secondary': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message:
      'this cluster is a {kind} secondary, whose records are those of its primary: disable its replication, or restore the primary',
  },
} as const satisfies Record<string, ErrorMeaning>;
