/**
 * Types of the resources that documents carry, in alphabetical order, and the names of their schemas in the
 * OpenAPI document, from which generated clients name their types.
 */
export const SCHEMA_NAMES = {
  'agent-pools': 'AgentPool',
  'agent-repository-work': 'AgentRepositoryWork',
  'agent-runs': 'AgentRun',
  agents: 'Agent',
  applies: 'Apply',
  'assessment-results': 'AssessmentResult',
  'authentication-tokens': 'AuthenticationToken',
  comments: 'Comment',
  'configuration-versions': 'ConfigurationVersion',
  'data-retention-policy-delete-olders': 'DataRetentionPolicyDeleteOlder',
  'data-retention-policy-dont-deletes': 'DataRetentionPolicyDontDelete',
  'effective-tag-bindings': 'EffectiveTagBinding',
  'email-confirmations': 'EmailConfirmation',
  'entitlement-sets': 'EntitlementSet',
  'ingress-attributes': 'IngressAttributes',
  invitations: 'Invitation',
  'notification-configurations': 'NotificationConfiguration',
  'oauth-authorizations': 'OAuthAuthorization',
  'oauth-clients': 'OAuthClient',
  'oauth-tokens': 'OAuthToken',
  'organization-capacity': 'OrganizationCapacity',
  'organization-memberships': 'OrganizationMembership',
  organizations: 'Organization',
  plans: 'Plan',
  'policy-checks': 'PolicyCheck',
  'policy-evaluations': 'PolicyEvaluation',
  projects: 'Project',
  'repository-deliveries': 'RepositoryDelivery',
  'reserved-tag-keys': 'ReservedTagKey',
  resources: 'ManagedInstance',
  'run-events': 'RunEvent',
  'run-triggers': 'RunTrigger',
  runs: 'Run',
  'ssh-keys': 'SshKey',
  'state-version-outputs': 'StateVersionOutput',
  'state-versions': 'StateVersion',
  'tag-bindings': 'TagBinding',
  tags: 'Tag',
  'task-stages': 'TaskStage',
  'team-projects': 'TeamProject',
  'team-workspaces': 'TeamWorkspace',
  teams: 'Team',
  users: 'User',
  vars: 'Variable',
  varsets: 'VariableSet',
  'workspace-outputs': 'WorkspaceOutput',
  'workspace-readme': 'WorkspaceReadme',
  workspaces: 'Workspace',
} as const;

export type ResourceType = keyof typeof SCHEMA_NAMES;

export const isResourceType = (text: string): text is ResourceType =>
  Object.hasOwn(SCHEMA_NAMES, text);
