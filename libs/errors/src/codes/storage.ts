import type { ErrorMeaning } from '../error-meaning.ts';

/** Errors of storage, locks and the bus. */
export const STORAGE_ERRORS = {
  'storage.conflict': {
    grpc: 'ABORTED',
    http: 503,
    retry: true,
    message: 'too many concurrent changes to the same records, try again',
  },
  'storage.fenced': {
    grpc: 'ABORTED',
    http: 503,
    retry: true,
    message: 'the lease {lease} passed to another holder',
  },
  'storage.not_unique': {
    grpc: 'ALREADY_EXISTS',
    http: 409,
    retry: false,
    message: 'another record of {kind} has this {name} already',
  },
  'storage.superseded': {
    grpc: 'ABORTED',
    http: 503,
    retry: true,
    message:
      'another version of Keelson writes to this store now, and this process may not: ask another replica, and end this one',
  },
  'storage.upgrade_unfinished': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    message:
      'processes of an older version may still run, and cannot read this in {kind}: finish the upgrade with keelson doctor --upgrade',
  },
  'storage.unavailable': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: 'the store cannot be reached',
  },
  'storage.outcome_unknown': {
    grpc: 'DEADLINE_EXCEEDED',
    http: 504,
    retry: false,
    message:
      'the database was lost while it stored the change and did not come back in time: the change may have taken effect',
  },
  'storage.rolled_back': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: false,
    message:
      'the database has lost commits: it is at {head}, and this process has seen {known}; check the database, then restart Keelson',
  },
  'storage.missing': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: false,
    message: 'the file contains no store',
  },
  'storage.lost': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: false,
    message:
      'the store was closed after a failed write to its files; restart Keelson to open it again',
  },
  'storage.sealed': { grpc: 'UNAVAILABLE', http: 503, retry: true, message: 'Keelson is sealed' },
  'storage.invalid_path': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: 'invalid name: {reason}',
  },
  'storage.too_large': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 413,
    retry: false,
    message: 'the {what} is larger than {limitBytes} bytes',
  },
  'storage.wal_pruned': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: false,
    message: 'log entry {sequence} is no longer kept, the oldest is {firstSequence}',
  },
  'storage.wal_diverged': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: false,
    message: 'the follower is at log entry {sequence}, past the newest {headSequence}',
  },
  'storage.full': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 507,
    retry: true,
    message: 'the disk of the store is full',
  },
  'storage.read_only': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: false,
    message: 'the store cannot be written: the file or folder is read-only',
  },
  'storage.unknown_format': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: false,
    message:
      'the store has format {found}, this version of Keelson reads and writes format {known}',
  },
  'storage.corrupt': {
    grpc: 'INTERNAL',
    http: 500,
    retry: false,
    message: 'the store is damaged: {reason}',
  },
  'barrier.wrong_root_key': {
    grpc: 'FAILED_PRECONDITION',
    http: 400,
    retry: false,
    message: 'the root key does not open the keyring',
  },
  'barrier.unknown_term': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message:
      'the record {path} is encrypted under key term {term}, which this process has not loaded',
  },
  'barrier.damaged_value': {
    grpc: 'INTERNAL',
    http: 500,
    retry: false,
    message: 'the record {path} cannot be decrypted: it is damaged or was moved',
  },
  'storage.damaged_record': {
    grpc: 'INTERNAL',
    http: 500,
    retry: false,
    message: 'the record {path} is damaged: {fault}',
  },
  'storage.newer_record': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message:
      'the record {path} has version {found}, and this process reads version {known} at most: a newer version of Keelson wrote it, ask another replica',
  },
  'lock.lost': {
    grpc: 'ABORTED',
    http: 503,
    retry: true,
    message: 'the lease {name} was lost',
  },
  'storage.damaged_copy': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: 'the copy of a store is damaged or incomplete',
  },
  'objects.unavailable': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: 'the object storage cannot be used ({reason}); nothing was changed, try again later',
  },
  'objects.not_configured': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: false,
    message:
      'the body is in object storage, which is not configured: set KEELSON_OBJECT_STORAGE_ENDPOINT',
  },
  'objects.missing': {
    grpc: 'INTERNAL',
    http: 500,
    retry: false,
    message: 'the object storage has no object {key}',
  },
  'objects.damaged': {
    grpc: 'INTERNAL',
    http: 500,
    retry: false,
    message: 'the object {key} is not the one that was stored: its digest differs',
  },
  'lock.unavailable': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: 'the lock service cannot be reached',
  },
  'bus.unavailable': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: 'the message bus cannot be used: {reason}',
  },
  'bus.no_responder': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: 'no process serves {subject}',
  },
  'bus.timeout': {
    grpc: 'DEADLINE_EXCEEDED',
    http: 504,
    retry: true,
    message: 'no answer from {subject} within {timeoutMs} ms',
  },
  'bus.stream_not_found': {
    grpc: 'NOT_FOUND',
    http: 503,
    retry: true,
    message: 'the stream {stream} does not exist',
  },
  'bus.stream_moved': {
    grpc: 'ABORTED',
    http: 503,
    retry: true,
    message: 'message {sequence} is not the newest of {stream}',
  },
  'bus.messages_pruned': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: false,
    message:
      'messages after {sequence} of {stream} are no longer kept, the oldest is {firstSequence}',
  },
  'bus.position_ahead': {
    grpc: 'FAILED_PRECONDITION',
    http: 503,
    retry: false,
    message: 'the follower is at message {sequence} of {stream}, past the newest {lastSequence}',
  },
} as const satisfies Record<string, ErrorMeaning>;
