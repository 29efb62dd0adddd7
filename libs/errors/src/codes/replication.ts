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
  'replication.id_in_use': {
    grpc: 'ALREADY_EXISTS',
    http: 400,
    retry: false,
    tell: 'the secondary id {id} is in use, revoke it first',
  },
} as const satisfies Record<string, ErrorMeaning>;
