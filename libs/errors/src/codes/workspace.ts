import type { ErrorMeaning } from '../error-meaning.ts';

/** Errors of the workspace API and of its JSON:API documents. */
export const WORKSPACE_ERRORS = {
  'jsonapi.unauthorized': {
    grpc: 'UNAUTHENTICATED',
    http: 401,
    retry: false,
    tell: 'a valid API token is required',
  },
  // `pointer` (RFC 6901) names the field of the request; the renderer puts it into `source`.
  'jsonapi.invalid_attribute': {
    grpc: 'INVALID_ARGUMENT',
    http: 422,
    retry: false,
    tell: '{text}',
  },
  // JSON:API 1.0, "Sorting": an order that is not served is refused.
  'jsonapi.invalid_sort': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    tell: 'Invalid sort parameter: the list is sorted by one of {allowed}, reversed by a leading -',
  },
  // JSON:API 1.1, "Updating Resources": the identifier of the document is that of the address.
  'jsonapi.id_differs': {
    grpc: 'INVALID_ARGUMENT',
    http: 409,
    retry: false,
    tell: 'data.id is not the id of the resource that the request is for',
  },
  'jsonapi.invalid_include': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    tell: 'Invalid include parameter: {name} is not available here',
  },
  // One answer for what is absent and for what the caller may not know or do.
  'workspace.not_found': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    tell: 'the {resource} does not exist, or you are not authorized for this action',
  },
  'workspace.forbidden': { grpc: 'PERMISSION_DENIED', http: 403, retry: false, tell: '{text}' },
  // Clients expect this status where an agent that still reports is to be deleted.
  'workspace.agent_is_live': {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retry: false,
    tell: 'the agent {id} is in use; only one that has exited or gone silent is deleted',
  },
  'workspace.already_locked': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    tell: 'Unable to lock workspace. The workspace is already locked.{holder}',
  },
  'workspace.locked_by_run': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    tell: 'Unable to lock workspace. The workspace is locked by Run {id}.',
  },
  'workspace.already_unlocked': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    tell: 'Unable to unlock workspace. The workspace is already unlocked.',
  },
  'workspace.locked_by_other': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    tell: 'Unable to unlock workspace. The workspace is locked by {kind} {id} and may not be unlocked except by them.',
  },
  // Clients recognise this refusal by the word "locked".
  'workspace.delete_locked': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    tell: 'Unable to safely delete workspace. The workspace is locked.',
  },
  // Clients tell the refusals of a safe deletion apart by "locked" and "being processed".
  'workspace.delete_processing': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: true,
    tell: 'Unable to safely delete workspace. Its newest state is still being processed.',
  },
  'workspace.delete_managing': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    tell: 'Unable to safely delete workspace. It is managing {count} resources.',
  },
  // Clients try an unlock again as long as they read this phrase.
  'workspace.state_pending': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    tell: 'The latest state version is still pending: it has not been uploaded yet.',
  },
  'workspace.state_needs_lock': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    tell: 'This workspace is not locked and will only accept state uploads when locked',
  },
  'workspace.state_locked_by_other': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    tell: 'This workspace is locked by {kind} {id} and will only accept state uploads from them while locked.',
  },
  'workspace.state_md5_conflict': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    tell: 'The MD5 hash of the state provided does not match what is currently known for the same serial number',
  },
  'workspace.state_serial_conflict': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    tell: 'The serial provided in the state file is not greater than the serial currently known remotely',
  },
  'workspace.state_lineage_conflict': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    tell: 'The lineage provided in the state file does not match the value currently known for this workspace',
  },
  'workspace.state_mismatch': {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retry: false,
    tell: 'The {what} of the uploaded state is not the one that was announced',
  },
  'workspace.state_malformed': {
    grpc: 'INVALID_ARGUMENT',
    http: 422,
    retry: false,
    tell: 'the state is not a JSON object',
  },
  'workspace.address_not_signed': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    tell: 'the address was not signed here, or has expired',
  },
  'workspace.conflict': { grpc: 'FAILED_PRECONDITION', http: 409, retry: false, tell: '{text}' },
} as const satisfies Record<string, ErrorMeaning>;
