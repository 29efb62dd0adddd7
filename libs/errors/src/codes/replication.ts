import type { ErrorMeaning } from '../error-meaning.ts';

/** Errors between the clusters of a replication set. */
export const REPLICATION_ERRORS = {
  'replication.not_admitted': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    tell: 'the cluster {secondary} is no secondary of this replication set',
  },
  'replication.not_ready': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    tell: 'the primary does not publish its log yet',
  },
  'replication.newer_primary': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    tell: 'the primary runs version {primary}, this cluster {here}: upgrade the secondary first',
  },
  'replication.superseded': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: false,
    tell: 'another cluster was promoted to be the primary of this replication set: this one writes nothing any more. Demote it, and have it follow that one',
  },
  'replication.superseded_primary': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    tell: 'the primary was superseded: it is that of promotion {primary}, and this cluster has heard of promotion {known}',
  },
  'replication.undecryptable': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    tell: 'a replication message cannot be decrypted: it is damaged, moved, or meant for others',
  },
  'replication.malformed': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    tell: 'not a replication message: {reason}',
  },
  'replication.log_broken': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: false,
    tell: 'the stream does not go on after log entry {sequence}',
  },
  'replication.not_filtered': {
    grpc: 'FAILED_PRECONDITION',
    http: 404,
    retry: false,
    tell: 'the secondary has no paths filter',
  },
  'replication.filtered': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    tell: 'a paths filter keeps mounts or namespaces from this cluster: remove it on the primary, or provide the "force" argument',
  },
  'replication.unknown_secondary': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    tell: '"{id}" is the id of no secondary and of no issued token: issue its token first, then set the filter, then enable the secondary',
  },
  'replication.id_in_use': {
    grpc: 'ALREADY_EXISTS',
    http: 400,
    retry: false,
    tell: 'the secondary id {id} is in use, revoke it first',
  },
  'replication.read_only': {
    grpc: 'FAILED_PRECONDITION',
    http: 403,
    retry: false,
    tell: 'cannot write to readonly storage',
  },
  'replication.dr_secondary': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    tell: 'path disabled in replication DR secondary mode',
  },
  'replication.catching_up': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    tell: 'replication is still catching up, try again later or provide the "force" argument',
  },
  'replication.unheard': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    tell: 'the primary {since} and has not stepped back: what it has committed is not known here. Demote it first, or provide the "force" argument to give that up',
  },
  'replication.primary_unreachable': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    tell: 'the primary cannot be reached, and nothing was written: try again later',
  },
  'replication.outcome_unknown': {
    grpc: 'DEADLINE_EXCEEDED',
    http: 504,
    retry: false,
    tell: 'the primary did not answer in time: what was asked for may have been done there',
  },
  'replication.index_missing': {
    grpc: 'UNAVAILABLE',
    http: 412,
    retry: true,
    tell: 'required index state not present',
  },
  'replication.switching': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    tell: 'Keelson is changing its replication role, try again shortly',
  },
  'replication.unwrap_refused': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    tell: 'error response unwrapping secondary token; status code is {status}, message is "{message}"',
  },
  'replication.unwrap_failed': {
    grpc: 'INTERNAL',
    http: 500,
    retry: false,
    tell: 'error unwrapping secondary token: Post "{url}": {reason}',
  },
  'replication.bootstrap_failed': {
    grpc: 'INTERNAL',
    http: 500,
    retry: false,
    tell: 'error fetching secondary bootstrap package: {reason}',
  },
  'replication.operation_token_missing': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    tell: 'DR operation token was not provided',
  },
} as const satisfies Record<string, ErrorMeaning>;
