import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { ORDERS_PER_MS } from '../../base/creation-order.ts';

/** Kinds of callers whose changes are recorded. Agents and the built-in runner report on runs, which have events. */
export const ACTOR_KINDS = ['user', 'team', 'organization', 'run'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/** Types of the resources of events, in the singular and in alphabetical order. */
export const RESOURCE_TYPES = [
  'agent',
  'agent_pool',
  'authentication_token',
  'comment',
  'configuration_version',
  'notification_configuration',
  'oauth_client',
  'oauth_token',
  'organization',
  'organization_membership',
  'project',
  'reserved_tag_key',
  'run',
  'run_trigger',
  'ssh_key',
  'state_version',
  'team',
  'team_access',
  'variable',
  'variable_set',
  'workspace',
] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** One change of one resource of an organization. Nothing in it is a value of the resource except its name. */
export const auditEventShape = Type.Object({
  /** A UUID. */
  id: Type.String(),
  organizationId: Type.String(),
  /** Greater than those of all former events of the process, in microseconds: several happen in a millisecond. */
  order: Type.Number(),
  requestId: Type.String(),
  actor: Type.Object({
    kind: Type.Enum([...ACTOR_KINDS]),
    /** `user-…`, `team-…`, `org-…`, `run-…`. */
    id: Type.String(),
    /** `at-…`. */
    tokenId: Type.String(),
  }),
  resource: Type.Object({
    type: Type.Enum([...RESOURCE_TYPES]),
    id: Type.String(),
    /** Its name after the change, or the last one it had; null for what has no name. */
    name: nullable(Type.String()),
    /** `create`, `update`, `destroy`, or the name of an action such as `lock`. */
    action: Type.String(),
    /** The workspace that it belongs to, `ws-…`. */
    workspaceId: nullable(Type.String()),
    /** The person of a membership, `user-…`: a name would outlive the account. */
    userId: nullable(Type.String()),
  }),
});
export type AuditEvent = Shaped<typeof auditEventShape>;

/** When the event happened. */
export const toEventMs = ({ order }: Pick<AuditEvent, 'order'>): number =>
  Math.floor(order / ORDERS_PER_MS);

/** Events end after this time. */
export const KEPT_MS = 30 * 86_400_000;
