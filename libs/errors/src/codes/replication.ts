import type { ErrorMeaning } from '../error-meaning.ts';

/** Errors between the clusters of a replication set. */
export const REPLICATION_ERRORS = {
  'replication.not_admitted': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    message: 'the cluster {secondary} is not a secondary of this replication set',
  },
  'replication.not_ready': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: 'the primary does not publish its log yet',
  },
  'replication.newer_primary': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message: 'the primary runs version {primary}, this cluster {here}: upgrade the secondary first',
  },
  'replication.superseded': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: false,
    message:
      'another cluster was promoted to primary of this replication set: this one refuses writes. Demote it, and make it follow the new primary',
  },
  'replication.superseded_primary': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message:
      'the primary was superseded: its promotion number is {primary}, and this cluster knows of {known}',
  },
  'replication.undecryptable': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    message:
      'a replication message cannot be decrypted: it is damaged, moved, or intended for another cluster',
  },
  'replication.malformed': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: 'not a replication message: {reason}',
  },
  'replication.log_broken': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: false,
    message: 'the stream does not continue after log entry {sequence}',
  },
  'replication.not_filtered': {
    grpc: 'FAILED_PRECONDITION',
    http: 404,
    retry: false,
    message: 'the secondary has no paths filter',
  },
  'replication.no_nats': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message: 'replication needs a NATS server: KEELSON_NATS_URL is not set',
  },
  'replication.filtered': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message:
      'a paths filter withholds mounts or namespaces from this cluster: remove it on the primary, or provide the "force" argument',
  },
  'replication.unknown_secondary': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message:
      '"{id}" is not the id of a secondary or of an issued token: issue the token first, then set the filter, then enable the secondary',
  },
  'replication.id_in_use': {
    grpc: 'ALREADY_EXISTS',
    http: 400,
    retry: false,
    message: 'the secondary id {id} is in use, revoke it first',
  },
  'replication.read_only': {
    grpc: 'FAILED_PRECONDITION',
    http: 403,
    retry: false,
    message: 'cannot write to readonly storage',
  },
  'replication.dr_secondary': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message: 'path disabled in replication DR secondary mode',
  },
  'replication.catching_up': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: 'replication is still catching up, try again later or provide the "force" argument',
  },
  'replication.unheard': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message:
      'the primary {since} and has not stepped back: its latest commits are not known here. Demote it first, or provide the "force" argument to give them up',
  },
  'replication.primary_unreachable': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: 'the primary cannot be reached, and nothing was written: try again later',
  },
  'replication.outcome_unknown': {
    grpc: 'DEADLINE_EXCEEDED',
    http: 504,
    retry: false,
    message: 'the primary did not answer in time: the request may have been carried out there',
  },
  'replication.index_missing': {
    grpc: 'UNAVAILABLE',
    http: 412,
    retry: true,
    message: 'required index state not present',
  },
  'replication.switching': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: 'Keelson is changing its replication role, try again shortly',
  },
  'replication.unwrap_refused': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message:
      'error response unwrapping secondary token; status code is {status}, message is "{message}"',
  },
  'replication.unwrap_failed': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: 'error unwrapping secondary token: Post "{url}": {reason}',
  },
  'replication.bootstrap_failed': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: 'error fetching secondary bootstrap package from {address}: {reason}',
  },
  'replication.operation_token_missing': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: 'DR operation token was not provided',
  },
} as const satisfies Record<string, ErrorMeaning>;
