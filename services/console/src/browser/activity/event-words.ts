/** Events of the audit trail in words. */
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { inWords } from '../components/format.ts';

export type AuditEvent = ResourceAttributes['audit-events'];
export type ChangedType = AuditEvent['resource-type'];

export const TYPE_WORDS: Readonly<Record<ChangedType, string>> = {
  agent: 'Agent',
  agent_pool: 'Agent pool',
  authentication_token: 'API token',
  comment: 'Comment',
  configuration_version: 'Configuration',
  notification_configuration: 'Notification',
  oauth_client: 'Version control client',
  oauth_token: 'Version control token',
  organization: 'Organization',
  organization_membership: 'Member',
  project: 'Project',
  reserved_tag_key: 'Reserved tag key',
  run: 'Run',
  run_trigger: 'Run trigger',
  ssh_key: 'SSH key',
  state_version: 'State',
  team: 'Team',
  team_access: 'Team access',
  variable: 'Variable',
  variable_set: 'Variable set',
  workspace: 'Workspace',
};

const ACTION_WORDS: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'changed',
  destroy: 'removed',
  lock: 'locked',
  unlock: 'unlocked',
  'force-unlock': 'unlocked by force',
  apply: 'applied',
  discard: 'discarded',
  cancel: 'canceled',
  'force-cancel': 'canceled by force',
};

/** Also of an action that a later version of the server adds. */
export const actionWords = ({ action }: Pick<AuditEvent, 'action'>): string =>
  ACTION_WORDS[action] ?? inWords(action);

/** Who has made the change: a person by name, others with what they are. */
export const actorWords = (event: AuditEvent): string => {
  const { 'actor-type': type, 'actor-name': name, 'actor-id': id } = event;
  if (type === 'user') return name ?? `a removed account (${id})`;
  if (type === 'team') return `token of the team ${name ?? id}`;
  return type === 'run' ? id : 'token of the organization';
};
