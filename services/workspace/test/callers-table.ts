/** One row per route: a valid request, the callers who succeed, and the statuses of the others. */
export const CALLERS = [
  'none',
  'unknown',
  'expired',
  'revoked',
  'stranger',
  'member',
  'read',
  'plan',
  'write',
  'admin',
  'manager',
  'organization',
  'auditor',
  'owner',
  'site',
  'agent',
  'run',
  'runner',
  'invitation',
  'confirmation',
  'reset',
] as const;
export type Caller = (typeof CALLERS)[number];

export interface Case {
  /** Concrete target with parameters {ws}, {prj}, {team}, {user}, {at}, {tws}. */
  readonly target: string;
  readonly body?: unknown;
  /** Callers that get `success`; others get 401 without a valid token, else 404 or the status in `others`. */
  readonly allowed: readonly Caller[];
  readonly success: number;
  /** Statuses other than 404 for callers that are known but not allowed. */
  readonly others?: Partial<Record<Caller, number>>;
  /** Status for every caller without the signature, when the signed URL is the credential. */
  readonly everyone?: number;
}

export const PROGRAMS: readonly Caller[] = [
  'auditor',
  'agent',
  'run',
  'runner',
  'invitation',
  'confirmation',
  'reset',
];
export const EVERYONE = CALLERS.slice(4).filter((caller) => !PROGRAMS.includes(caller));
export const MEMBERS = EVERYONE.filter((caller) => caller !== 'stranger' && caller !== 'site');
export const READERS = MEMBERS.filter((caller) => caller !== 'member');
export const LOCKERS: readonly Caller[] = ['write', 'admin', 'manager', 'owner'];
export const ADMINS: readonly Caller[] = ['admin', 'manager', 'organization', 'owner'];
export const MANAGERS: readonly Caller[] = ['manager', 'organization', 'owner'];
export const ORGANIZATION_ADMINS: readonly Caller[] = ['organization', 'owner'];
export const OWNERS: readonly Caller[] = ['owner'];

export const attributes = (type: string, values: object = {}, relationships: object = {}) => ({
  data: { type, attributes: values, relationships },
});
export const O = '/organizations/acme';
export const W = '/workspaces/{workspace_id}';
/** Names of the actions on bytes, below the `actions` of what has them. */
export const BACKING_DATA_PATHS: readonly string[] = [
  'soft_delete_backing_data',
  'soft-delete-backing-data',
  'restore_backing_data',
  'restore-backing-data',
  'permanently_delete_backing_data',
  'permanently-delete-backing-data',
];
export const ON = '/organizations/{organization_name}';
