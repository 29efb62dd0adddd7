import type { ErrorMeaning } from '../error-meaning.ts';

/** Errors of the workspace API and of its JSON:API documents. */
export const WORKSPACE_ERRORS = {
  'jsonapi.unauthorized': {
    grpc: 'UNAUTHENTICATED',
    http: 401,
    retry: false,
    message:
      'a valid API token of /api/v2 is required (Authorization: Bearer TOKEN); tokens of /v1 are not known here',
  },
  // `pointer` (RFC 6901) names the field of the request; the renderer puts it into `source`.
  'jsonapi.invalid_attribute': {
    grpc: 'INVALID_ARGUMENT',
    http: 422,
    retry: false,
    message: '{text}',
  },
  // JSON:API 1.0, "Sorting": an unsupported sort order is refused.
  'jsonapi.invalid_sort': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: 'Invalid sort parameter: allowed are {allowed}, each reversed by a leading -',
  },
  // JSON:API 1.0, "Query Parameters": a server that cannot process a parameter it knows answers 400.
  'jsonapi.unknown_parameter': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: '{parameter} is not supported at this address; supported are: {known}',
  },
  'jsonapi.invalid_parameter': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: 'Invalid query parameter: {parameter} {text}',
  },
  // JSON:API 1.1, "Updating Resources": the id in the document must be that of the URL.
  'jsonapi.id_differs': {
    grpc: 'INVALID_ARGUMENT',
    http: 409,
    retry: false,
    message: 'data.id must be the id of the addressed resource, or absent',
  },
  'jsonapi.invalid_include': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: 'Invalid include parameter: {name} is not available here; available are: {known}',
  },
  // JSON:API 1.0, "Sparse Fieldsets": the field names belong to a type of resource.
  'jsonapi.invalid_fields': {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retry: false,
    message: 'Invalid fields parameter: {name} is not a resource type',
  },
  // The same error for absent resources and for those that the caller may not see or change.
  'workspace.not_found': {
    grpc: 'NOT_FOUND',
    http: 404,
    retry: false,
    message: 'the {resource} does not exist, or you are not authorized for this action',
  },
  'workspace.oauth_client_off': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: true,
    message:
      'the OAuth client {name} is disabled: an administrator of this site has switched it off, and can switch it on again',
  },
  'workspace.organization_off': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: true,
    message:
      'the organization {name} is disabled: an administrator of this site has switched it off, and can switch it on again',
  },
  'workspace.passkeys_off': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: true,
    message:
      'sign-in with passkeys is off on this site: an administrator of the site can switch it on',
  },
  // The same error for unknown passkeys, suspended users and wrong signatures.
  'workspace.passkey_refused': {
    grpc: 'UNAUTHENTICATED',
    http: 401,
    retry: false,
    message: 'the passkey is not accepted: begin again, or sign in in another way',
  },
  'workspace.passwords_off': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: true,
    message:
      'sign-in with a password is off on this site: an administrator of the site can switch it on',
  },
  // The same error for unknown names, suspended users and users without a password.
  'workspace.sign_in_refused': {
    grpc: 'UNAUTHENTICATED',
    http: 401,
    retry: false,
    message: 'the name or the password is wrong',
  },
  'workspace.sso_off': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: true,
    message: 'single sign-on is off on this site: an administrator of the site can switch it on',
  },
  'workspace.sso_refused': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    message: 'nobody is signed in: {text}',
  },
  'workspace.sso_unavailable': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message:
      'the provider of identities cannot be reached, or has refused: try again, or sign in in another way',
  },
  'workspace.sign_in_locked': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 429,
    retry: true,
    message:
      'there were too many failed attempts to sign in with this name: try again in {minutes} minutes',
  },
  'workspace.token_lives_too_long': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    message:
      'the organization {name} accepts only API tokens of a limited lifetime, and yours was made for longer: create one that ends earlier',
  },
  'workspace.two_factor_required': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: true,
    message:
      'the organization {name} requires two-factor authentication: set it up for your account, sign in with it, and try again',
  },
  'workspace.forbidden': { grpc: 'PERMISSION_DENIED', http: 403, retry: false, message: '{text}' },
  // Clients expect this status for the deletion of an agent that still reports.
  'workspace.agent_is_live': {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retry: false,
    message:
      'the agent {id} is in use; only an agent that has exited or stopped reporting can be deleted',
  },
  'workspace.already_locked': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    message: 'Unable to lock workspace. The workspace is already locked.{holder}',
  },
  'workspace.locked_by_run': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    message: 'Unable to lock workspace. The workspace is locked by Run {id}.',
  },
  'workspace.not_assessable': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    message: 'Unable to start a health assessment: {text}',
  },
  'workspace.already_unlocked': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    message: 'Unable to unlock workspace. The workspace is already unlocked.',
  },
  'workspace.locked_by_other': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    message:
      'Unable to unlock workspace. The workspace is locked by {kind} {id} and may not be unlocked except by them.',
  },
  // Clients recognise this error by the word "locked".
  'workspace.delete_locked': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    message: 'Unable to safely delete workspace. The workspace is locked.',
  },
  // Clients distinguish the errors of a safe deletion by "locked" and "being processed".
  'workspace.delete_processing': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: true,
    message: 'Unable to safely delete workspace. Its newest state is still being processed.',
  },
  'workspace.delete_managing': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    message: 'Unable to safely delete workspace. It is managing {count} resources.',
  },
  // Clients retry an unlock while the error contains this phrase.
  'workspace.state_pending': {
    grpc: 'UNAVAILABLE',
    http: 503,
    retry: true,
    message: 'The latest state version is still pending: it has not been uploaded yet.',
  },
  'workspace.state_needs_lock': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    message: 'This workspace is not locked and will only accept state uploads when locked',
  },
  'workspace.state_locked_by_other': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    message:
      'This workspace is locked by {kind} {id} and will only accept state uploads from them while locked.',
  },
  'workspace.state_md5_conflict': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    message:
      'The MD5 hash of the state provided does not match what is currently known for the same serial number',
  },
  'workspace.state_serial_conflict': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    message:
      'The serial provided in the state file is not greater than the serial currently known remotely',
  },
  'workspace.state_lineage_conflict': {
    grpc: 'FAILED_PRECONDITION',
    http: 409,
    retry: false,
    message:
      'The lineage provided in the state file does not match the value currently known for this workspace',
  },
  'workspace.state_mismatch': {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retry: false,
    message: 'The {what} of the uploaded state differs from the announced one',
  },
  'workspace.state_malformed': {
    grpc: 'INVALID_ARGUMENT',
    http: 422,
    retry: false,
    message: 'the state is not a JSON object',
  },
  'workspace.address_not_signed': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    message: 'the address has no valid signature, or it has expired',
  },
  'workspace.delivery_not_authentic': {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retry: false,
    message: 'the signature or token of the delivery is not that of this webhook',
  },
  'workspace.delivery_replayed': {
    grpc: 'ALREADY_EXISTS',
    http: 409,
    retry: false,
    message: 'this delivery has already been received',
  },
  'workspace.too_many_deliveries': {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 429,
    retry: true,
    message:
      'the organization already has {limit} pieces of work that wait for their providers: deliver this again later',
  },
  'workspace.provider_failed': {
    grpc: 'INTERNAL',
    http: 502,
    retry: false,
    message: 'the provider did not authorize the client: {text}',
  },
  'workspace.conflict': { grpc: 'FAILED_PRECONDITION', http: 409, retry: false, message: '{text}' },
} as const satisfies Record<string, ErrorMeaning>;
