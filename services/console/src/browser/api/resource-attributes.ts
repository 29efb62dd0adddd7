/** The attributes of the resources of the workspace API, by type. Written by `npx vitest run --project release-console services/console/test/edits -t types -u`. */

export interface ResourceAttributes {
  organizations: {
    name: string;
    'external-id': string;
    email: string;
    'created-at': string;
    'default-execution-mode': 'remote' | 'local' | 'agent';
    'allow-force-delete-workspaces': boolean;
    'assessments-enforced': boolean;
    'members-leave-with-last-team': boolean;
    'user-tokens-enabled': boolean;
    'max-ttl-enabled': boolean;
    'is-disabled'?: boolean;
    'is-draining'?: boolean;
    'aggregated-commit-status-enabled': boolean;
    'collaborator-auth-policy': 'password' | 'two_factor_mandatory';
    'cost-estimation-enabled': boolean;
    'enforce-hyok': boolean;
    'fair-run-queuing-enabled': boolean;
    'owners-team-saml-role-id': string | null;
    'registry-monorepo-support-enabled': boolean;
    'saml-enabled': boolean;
    'send-passing-statuses-for-untriggered-speculative-plans': boolean;
    'session-remember': number | null;
    'session-timeout': number | null;
    'speculative-plan-management-enabled': boolean;
    'stacks-enabled': boolean;
    'two-factor-conformant': boolean;
    permissions: {
      'can-access-via-teams': boolean;
      'can-create-project': boolean;
      'can-create-team': boolean;
      'can-create-workspace': boolean;
      'can-destroy': boolean;
      'can-manage-run-tasks': boolean;
      'can-manage-tags': boolean;
      'can-manage-users': boolean;
      'can-manage-varsets': boolean;
      'can-read-audit-trail': boolean;
      'can-read-run-tasks': boolean;
      'can-traverse': boolean;
      'can-update': boolean;
      'can-update-agent-pools': boolean;
      'can-update-api-token': boolean;
      'can-update-oauth': boolean;
      'can-update-ssh-keys': boolean;
    };
  };
  'entitlement-sets': {
    operations: boolean;
    agents: boolean;
    'audit-logging': boolean;
    'configuration-designer': boolean;
    'cost-estimation': boolean;
    'global-run-tasks': boolean;
    'module-tests-generation': boolean;
    'policy-enforcement': boolean;
    'policy-limit': number | null;
    'policy-mandatory-enforcement-limit': number | null;
    'policy-set-limit': number | null;
    'private-module-registry': boolean;
    'private-policy-agents': boolean;
    'private-run-tasks': boolean;
    'private-vcs': boolean;
    'run-task-limit': number | null;
    'run-task-mandatory-enforcement-limit': number | null;
    'run-task-workspace-limit': number | null;
    'run-tasks': boolean;
    'self-serve-billing': boolean;
    sentinel: boolean;
    sso: boolean;
    'state-storage': boolean;
    teams: boolean;
    'usage-reporting': boolean;
    'user-limit': number | null;
    'vcs-integrations': boolean;
    'versioned-policy-set-limit': number | null;
  };
  teams: {
    name: string;
    visibility: 'secret' | 'organization';
    'sso-team-id': string | null;
    'allow-member-token-management': boolean;
    'users-count': number;
    'organization-access': {
      'access-secret-teams': boolean;
      'delegate-policy-overrides': boolean;
      'manage-agent-pools': boolean;
      'manage-membership': boolean;
      'manage-modules': boolean;
      'manage-organization-access': boolean;
      'manage-policies': boolean;
      'manage-policy-overrides': boolean;
      'manage-projects': boolean;
      'manage-providers': boolean;
      'manage-run-tasks': boolean;
      'manage-teams': boolean;
      'manage-vcs-settings': boolean;
      'manage-workspaces': boolean;
      'read-projects': boolean;
      'read-workspaces': boolean;
    };
    permissions: {
      'can-destroy': boolean;
      'can-update-api-token': boolean;
      'can-update-membership': boolean;
      'can-update-organization-access': boolean;
      'can-update-visibility': boolean;
    };
  };
  'organization-memberships': {
    status: 'active' | 'invited';
    email: string;
    'created-at': string;
  };
  invitations: {
    email: string;
    username: string;
    'invited-by': string | null;
    'expires-at': string | null;
  };
  'email-confirmations': {
    email: string;
    username: string;
    'expires-at': string | null;
  };
  users: {
    username: string;
    'is-service-account': boolean;
    'auth-method': 'token';
    'avatar-url': string | null;
    'v2-only': boolean;
    'is-site-admin': boolean;
    'is-sso-login': boolean;
    email?: string;
    'unconfirmed-email'?: string | null;
    'is-admin'?: boolean;
    'is-suspended'?: boolean;
    'created-at'?: string;
    'two-factor'?: {
      enabled: boolean;
      verified: boolean;
    };
    permissions: {
      'can-create-organizations': boolean;
      'can-change-email'?: boolean;
      'can-change-username'?: boolean;
      'can-change-password'?: boolean;
      'can-change-two-factor'?: boolean;
      'can-change-passkeys'?: boolean;
      'can-view-settings'?: boolean;
    };
  };
  'authentication-tokens': {
    description: string | null;
    'created-at': string;
    'last-used-at': string | null;
    'expired-at': string | null;
    token: string | null;
  };
  'command-logins': {
    'redirect-to': string;
    'expires-at': string | null;
  };
  passkeys: {
    name: string;
    'created-at': string;
    'last-used-at': string | null;
    'is-synced': boolean;
  };
  'passkey-challenges': {
    'sign-in': {
      [k: string]: unknown;
    } | null;
    registration: {
      [k: string]: unknown;
    } | null;
  };
  'password-resets': {
    username: string;
    'expires-at': string | null;
  };
  sessions: {
    'user-agent': string | null;
    'created-at': string;
    'last-used-at': string | null;
    'expires-at': string | null;
    'is-current': boolean;
    token: string | null;
  };
  'sign-in-methods': {
    password: boolean;
    passkey: boolean;
    'single-sign-on': string | null;
    'password-reset': boolean;
  };
  'sign-in-settings': {
    'passwords-enabled': boolean;
    'passkeys-enabled': boolean;
    'session-minutes': number;
  };
  'sso-logins': {
    'authorization-url': string;
  };
  'sso-settings': {
    enabled: boolean;
    title: string;
    issuer: string;
    'client-id': string;
    'has-client-secret': boolean;
    'ca-certificates': string | null;
    scopes: string[];
    'username-claim': string;
    'groups-claim': string | null;
    'creates-users': boolean;
    'links-users': boolean;
    'joins-organizations': boolean;
    'two-factor': boolean;
    'redirect-uri': string | null;
  };
  'organization-token-ttl-policies': {
    'token-type': 'organization' | 'team' | 'user' | 'audit_trails';
    'max-ttl-ms': number;
    'created-at': string;
    'updated-at': string;
  };
  'two-factors': {
    enabled: boolean;
    verified: boolean;
    'recovery-codes-left': number;
    secret?: string | null;
    'provisioning-url'?: string | null;
    'recovery-codes'?: string[];
  };
  projects: {
    name: string;
    description: string;
    'auto-destroy-activity-duration': string | null;
    'created-at': string;
    'default-execution-mode': 'remote' | 'local' | 'agent';
    'is-unified': boolean;
    'setting-overwrites': {
      'default-execution-mode': boolean;
      'default-agent-pool': boolean;
    };
    permissions?: {
      'can-create-workspace': boolean;
      'can-destroy': boolean;
      'can-manage-teams': boolean;
      'can-manage-varsets': boolean;
      'can-move-workspace': boolean;
      'can-read': boolean;
      'can-read-teams': boolean;
      'can-read-varsets': boolean;
      'can-update': boolean;
    };
    'workspace-count'?: number;
  };
  workspaces: {
    name: string;
    description: string | null;
    actions: {
      'is-destroyable': boolean;
    };
    'allow-destroy-plan': boolean;
    'assessments-enabled': boolean;
    'auto-apply': boolean;
    'auto-apply-run-trigger': boolean;
    'auto-destroy-at': string | null;
    'auto-destroy-activity-duration': string | null;
    'auto-destroy-status': 'queued' | 'errored' | 'nothing-to-destroy' | null;
    'can-queue-destroy-plan': boolean;
    'created-at': string;
    environment: string;
    'execution-mode': 'remote' | 'local' | 'agent';
    'file-triggers-enabled': boolean;
    'global-remote-state': boolean;
    'inherits-project-auto-destroy': boolean;
    'latest-change-at': string;
    locked: boolean;
    'locked-reason': string;
    'oauth-client-name': string | null;
    operations: boolean;
    permissions: {
      'can-create-state-versions': boolean;
      'can-destroy': boolean;
      'can-force-delete': boolean;
      'can-force-unlock': boolean;
      'can-lock': boolean;
      'can-manage-assessments': boolean;
      'can-manage-ephemeral-workspaces': boolean;
      'can-manage-run-tasks': boolean;
      'can-manage-tags': boolean;
      'can-queue-apply': boolean;
      'can-queue-destroy': boolean;
      'can-queue-run': boolean;
      'can-read-assessment-results': boolean;
      'can-read-run': boolean;
      'can-read-settings': boolean;
      'can-read-state-outputs': boolean;
      'can-read-state-versions': boolean;
      'can-read-variable': boolean;
      'can-unlock': boolean;
      'can-update': boolean;
      'can-update-variable': boolean;
    };
    'project-remote-state': boolean;
    'queue-all-runs': boolean;
    'runtime-version': string;
    'setting-overwrites': {
      'execution-mode': boolean;
      'agent-pool': boolean;
    };
    source: string;
    'source-name': string | null;
    'source-url': string | null;
    'speculative-enabled': boolean;
    'structured-run-output-enabled': boolean;
    'tag-names': string[];
    'terraform-version': string;
    'trigger-patterns': string[];
    'trigger-prefixes': string[];
    'updated-at': string;
    'vcs-repo': {
      identifier: string;
      'display-identifier': string;
      branch: string;
      'tags-regex': string | null;
      'ingress-submodules': boolean;
      'oauth-token-id': string;
      'service-provider': string | null;
      'repository-http-url': string | null;
      'webhook-url': string | null;
      problem: string | null;
    } | null;
    'vcs-repo-identifier': string | null;
    'working-directory': string | null;
    'resource-count': number;
    'apply-duration-average': number;
    'plan-duration-average': number;
    'policy-check-failures': number;
    'run-failures': number;
    'workspace-kpis-runs-count': number;
    'workspace-kpis-run-count': number;
    'last-assessment-result-at': string | null;
  };
  'workspace-locks': {
    'workspace-name': string;
    'organization-name': string;
    reason: string;
    'locked-at': string;
  };
  tags: {
    name: string;
    'created-at': string;
    'instance-count': number;
  };
  'tag-bindings': {
    key: string;
    value: string;
    'created-at': string;
  };
  'effective-tag-bindings': {
    key: string;
    value: string;
  };
  'reserved-tag-keys': {
    key: string;
    'disable-overrides': boolean;
    'created-at': string;
    'updated-at': string;
    created_at: string;
    updated_at: string;
  };
  'team-workspaces': {
    access: 'read' | 'plan' | 'write' | 'admin' | 'custom';
    runs: 'none' | 'read' | 'plan' | 'apply';
    variables: 'none' | 'read' | 'write';
    'state-versions': 'none' | 'read-outputs' | 'read' | 'write';
    'sentinel-mocks': 'none' | 'read';
    'workspace-locking': boolean;
    'run-tasks': boolean;
  };
  'team-projects': {
    access: 'read' | 'write' | 'maintain' | 'admin' | 'custom';
    'project-access': {
      settings: 'read' | 'update' | 'delete';
      teams: 'none' | 'read' | 'manage';
      'variable-sets': 'none' | 'read' | 'write';
    };
    'workspace-access': {
      runs: 'none' | 'read' | 'plan' | 'apply';
      'sentinel-mocks': 'none' | 'read';
      'state-versions': 'none' | 'read-outputs' | 'read' | 'write';
      variables: 'none' | 'read' | 'write';
      create: boolean;
      locking: boolean;
      delete: boolean;
      move: boolean;
      'run-tasks': boolean;
    };
  };
  'ssh-keys': {
    name: string;
  };
  vars: {
    key: string;
    value: string | null;
    sensitive: boolean;
    category: 'terraform' | 'env';
    hcl: boolean;
    description: string | null;
    'created-at': string;
    'version-id': string;
  };
  varsets: {
    name: string;
    description: string;
    global: boolean;
    priority: boolean;
    'created-at': string;
    'updated-at': string;
    'var-count': number;
    'workspace-count': number;
    'project-count': number;
  };
  'agent-pools': {
    name: string;
    'created-at': string;
    'organization-scoped': boolean;
    'allowed-egress': string[] | null;
    'agent-count': number;
    'is-disabled': boolean;
  };
  'oauth-authorizations': {
    'authorize-url': string;
    'expires-at': string;
  };
  'oauth-clients': {
    name: string | null;
    'created-at': string;
    'service-provider':
      | 'bitbucket_data_center'
      | 'bitbucket_hosted'
      | 'bitbucket_server'
      | 'forgejo'
      | 'gitea'
      | 'github'
      | 'github_enterprise'
      | 'gitlab_community_edition'
      | 'gitlab_enterprise_edition'
      | 'gitlab_hosted';
    'service-provider-display-name': string;
    'http-url': string;
    'api-url': string;
    key: string | null;
    'rsa-public-key': string | null;
    'callback-url': string | null;
    'connect-path': string | null;
    'organization-scoped': boolean;
    'is-disabled': boolean;
  };
  'oauth-tokens': {
    'created-at': string;
    'service-provider-user': string | null;
    'has-ssh-key': boolean;
  };
  'notification-configurations': {
    name: string;
    enabled: boolean;
    'destination-type': 'generic' | 'slack' | 'microsoft-teams' | 'email';
    url: string | null;
    token: string | null;
    triggers: string[];
    'email-addresses': string[];
    'delivery-responses': {
      url: string;
      body: string;
      code: string;
      headers: {
        [k: string]: string[];
      };
      'sent-at': string;
      successful: 'true' | 'false';
    }[];
    'created-at': string;
    'updated-at': string;
  };
  'state-versions': {
    'created-at': string;
    serial: number;
    md5: string;
    lineage: string | null;
    size: number;
    status:
      | 'pending'
      | 'finalized'
      | 'discarded'
      | 'backing_data_soft_deleted'
      | 'backing_data_permanently_deleted';
    intermediate: boolean;
    'state-version': number | null;
    'terraform-version': string | null;
    'runtime-version': string | null;
    'resources-processed': boolean;
    'billable-rum-count': number;
    resources: {
      name: string;
      type: string;
      module: string;
      provider: string;
      count: number;
    }[];
    modules: {
      [k: string]: {
        [k: string]: number;
      };
    };
    providers: {
      [k: string]: {
        [k: string]: number;
      };
    };
    'vcs-commit-sha': string | null;
    'vcs-commit-url': string | null;
    'hosted-state-upload-url': string | null;
    'hosted-json-state-upload-url': string | null;
    'hosted-state-download-url': string | null;
    'hosted-json-state-download-url': string | null;
  };
  'state-version-outputs': {
    name: string;
    sensitive: boolean;
    value: unknown;
    type: string;
    'detailed-type': unknown;
  };
  'workspace-outputs': {
    name: string;
    sensitive: boolean;
    value: unknown;
    'output-type': string;
  };
  resources: {
    address: string;
    name: string;
    module: string;
    provider: string;
    'provider-type': string;
    'modified-by-state-version-id': string | null;
    'name-index': string | null;
  };
  'configuration-versions': {
    'auto-queue-runs': boolean;
    speculative: boolean;
    provisional: boolean;
    status:
      | 'pending'
      | 'uploaded'
      | 'errored'
      | 'archived'
      | 'backing_data_soft_deleted'
      | 'backing_data_permanently_deleted';
    source: string;
    error: 'fetch_failed' | null;
    'error-message': string | null;
    'status-timestamps': {
      [k: string]: string;
    };
    'upload-url': string | null;
  };
  'ingress-attributes': {
    identifier: string;
    'clone-url': string;
    'commit-sha': string;
    'commit-message': string;
    'commit-url': string;
    'compare-url': string | null;
    branch: string;
    tag: string | null;
    'on-default-branch': boolean;
    'is-pull-request': boolean;
    'pull-request-number': number | null;
    'pull-request-title': string | null;
    'pull-request-body': string | null;
    'pull-request-url': string | null;
    'sender-username': string | null;
    'sender-avatar-url': string | null;
    'sender-html-url': string | null;
  };
  'workspace-readme': {
    'raw-markdown': string;
  };
  'data-retention-policy-delete-olders': {
    'delete-older-than-n-days'?: number;
    deleteOlderThanNDays?: number;
    deleteStateVersions?: boolean;
    stateVersionsDeleteAfterNDays?: number | null;
    stateVersionsKeepLatestCount?: number | null;
    deleteConfigurationVersions?: boolean;
    configurationVersionsDeleteAfterNDays?: number | null;
    configurationVersionsKeepLatestCount?: number | null;
    deleteRunDataAndLogs?: boolean;
    runDataAndLogsDeleteAfterNDays?: number | null;
    runDataKeepLatestCount?: number | null;
    'delete-state-versions'?: boolean;
    'state-versions-delete-after-n-days'?: number | null;
    'state-versions-keep-latest-count'?: number | null;
    'delete-configuration-versions'?: boolean;
    'configuration-versions-delete-after-n-days'?: number | null;
    'configuration-versions-keep-latest-count'?: number | null;
    'delete-run-data-and-logs'?: boolean;
    'run-data-and-logs-delete-after-n-days'?: number | null;
    'run-data-keep-latest-count'?: number | null;
  };
  'data-retention-policy-dont-deletes': {};
  runs: {
    status:
      | 'pending'
      | 'planning'
      | 'planned'
      | 'planned_and_saved'
      | 'planned_and_finished'
      | 'confirmed'
      | 'applying'
      | 'applied'
      | 'discarded'
      | 'errored'
      | 'canceled'
      | 'force_canceled';
    'position-in-queue'?: number;
    'status-timestamps': {
      [k: string]: string;
    };
    message: string;
    source: string;
    'created-at': string;
    'is-destroy': boolean;
    refresh: boolean;
    'refresh-only': boolean;
    'auto-apply': boolean;
    'plan-only': boolean;
    'save-plan': boolean;
    'allow-empty-apply': boolean;
    'target-addrs': string[];
    'replace-addrs': string[];
    variables: {
      key: string;
      value: string;
    }[];
    'runtime-version': string;
    'terraform-version': string;
    'has-changes': boolean;
    'canceled-at': string | null;
    'force-cancel-available-at': string | null;
    actions: {
      'is-cancelable': boolean;
      'is-confirmable': boolean;
      'is-discardable': boolean;
      'is-force-cancelable': boolean;
    };
    permissions: {
      'can-apply': boolean;
      'can-cancel': boolean;
      'can-comment': boolean;
      'can-discard': boolean;
      'can-force-cancel': boolean;
      'can-force-execute': boolean;
      'can-override-policy-check': boolean;
    };
  };
  plans: {
    status: 'pending' | 'queued' | 'running' | 'finished' | 'errored' | 'canceled' | 'unreachable';
    'resource-additions': number | null;
    'resource-changes': number | null;
    'resource-destructions': number | null;
    'resource-imports': number | null;
    'status-timestamps': {
      'started-at'?: string;
      'finished-at'?: string;
      'errored-at'?: string;
      'canceled-at'?: string;
    };
    'execution-details': {
      mode: 'remote' | 'agent';
      'agent-id'?: string;
      'agent-pool-id'?: string;
    } | null;
    'log-read-url': string;
    'has-changes': boolean;
  };
  applies: {
    status: 'pending' | 'queued' | 'running' | 'finished' | 'errored' | 'canceled' | 'unreachable';
    'resource-additions': number | null;
    'resource-changes': number | null;
    'resource-destructions': number | null;
    'resource-imports': number | null;
    'status-timestamps': {
      'started-at'?: string;
      'finished-at'?: string;
      'errored-at'?: string;
      'canceled-at'?: string;
    };
    'execution-details': {
      mode: 'remote' | 'agent';
      'agent-id'?: string;
      'agent-pool-id'?: string;
    } | null;
    'log-read-url': string;
  };
  'run-events': {
    action: string;
    description: string | null;
    'created-at': string;
  };
  comments: {
    body: string;
    'created-at': string;
  };
  'task-stages': {
    stage: string;
    status: string;
  };
  'policy-checks': {
    scope: string;
    status: string;
  };
  'policy-evaluations': {
    'policy-kind': string;
    status: string;
  };
  'organization-capacity': {
    pending: number;
    running: number;
  };
  'run-statistics': {
    window: 'hour' | 'day' | 'month';
    'step-seconds': number;
    'start-at': string;
    created: number[];
    finished: number[];
    errored: number[];
    'queue-seconds': (number | null)[];
  };
  'run-triggers': {
    'workspace-name': string;
    'sourceable-name': string;
    'created-at': string;
  };
  'assessment-results': {
    drifted: boolean;
    succeeded: boolean;
    'error-msg': string | null;
    'created-at': string;
  };
  agents: {
    name: string;
    status: 'idle' | 'busy' | 'exited' | 'errored';
    'ip-address': string | null;
    version: string;
    'last-ping-at': string;
    'ping-interval-seconds': number;
    'created-at': string;
  };
  'agent-runs': {
    phase: 'plan' | 'apply';
    status:
      | 'pending'
      | 'planning'
      | 'planned'
      | 'planned_and_saved'
      | 'planned_and_finished'
      | 'confirmed'
      | 'applying'
      | 'applied'
      | 'discarded'
      | 'errored'
      | 'canceled'
      | 'force_canceled';
    'organization-name': string;
    'workspace-id': string;
    'workspace-name': string;
    'working-directory': string;
    'runtime-version': string | null;
    'runtime-version-constraint': string;
    'is-destroy': boolean;
    refresh: boolean;
    'refresh-only': boolean;
    'is-assessment': boolean;
    'allowed-egress': string[] | null;
    'target-addrs': string[];
    'replace-addrs': string[];
    'cancel-requested-at': string | null;
    variables: {
      key: string;
      value: string;
      category: 'terraform' | 'env';
      hcl: boolean;
      sensitive: boolean;
    }[];
    'configuration-download-url': string;
    'state-download-url': string | null;
    'plan-file-upload-url'?: string;
    'json-output-upload-url'?: string;
    'json-output-redacted-upload-url'?: string;
    'json-schema-upload-url'?: string;
    'plan-file-download-url'?: string;
    'errored-state-upload-url'?: string;
    token?: string;
    'ssh-private-key'?: string;
    'workload-identity-tokens'?: {
      purpose:
        'WORKLOAD_IDENTITY' | 'VAULT' | 'AWS' | 'GCP' | 'AZURE' | 'KUBERNETES' | 'TENCENTCLOUD';
      tag: string;
      token: string;
    }[];
  };
  'repository-deliveries': {
    'delivery-id': string;
    event: string;
    'received-at': string;
    outcome: 'queued' | 'done' | 'ignored' | 'retried' | 'failed';
    detail: string | null;
  };
  'agent-repository-work': {
    kind?: 'fetch' | 'request';
    'time-limit-seconds'?: number;
    'clone-url'?: string;
    username?: string;
    token?: string;
    'ssh-private-key'?: string;
    ref?: string | null;
    'only-if-default-branch'?: string | null;
    'base-sha'?: string | null;
    'limit-bytes'?: number;
    'archive-limit-bytes'?: number;
    method?: string;
    url?: string;
    headers?: {
      [k: string]: string;
    };
    body?: string | null;
    'answer-limit-bytes'?: number;
    archives?: {
      'with-submodules': boolean;
      'upload-url': string;
    }[];
  };
  'audit-events': {
    timestamp: string;
    action: string;
    'resource-type':
      | 'agent'
      | 'agent_pool'
      | 'authentication_token'
      | 'comment'
      | 'configuration_version'
      | 'notification_configuration'
      | 'oauth_client'
      | 'oauth_token'
      | 'organization'
      | 'organization_membership'
      | 'project'
      | 'reserved_tag_key'
      | 'run'
      | 'run_trigger'
      | 'ssh_key'
      | 'state_version'
      | 'team'
      | 'team_access'
      | 'variable'
      | 'variable_set'
      | 'workspace';
    'resource-id': string;
    'resource-name': string | null;
    'workspace-name': string | null;
    'actor-type': 'user' | 'team' | 'organization' | 'run';
    'actor-id': string;
    'actor-name': string | null;
    'token-id': string;
    'request-id': string;
  };
}
