/**
 * Every field of every request document and its effect. `accepted-fields.integration.test.ts` compares the table with the
 * request forms of the service and sends the values. The name of a field leaves out `data`, `attributes` and the marks
 * of list items; `@` precedes a relationship. `data.id` and `type` are left out; their rules are the same
 * everywhere.
 */

import { RUN_FIELD_GROUPS } from './accepted-fields-table-runs.ts';
import { SIGN_IN_FIELD_GROUPS } from './accepted-fields-table-sign-in.ts';
import {
  type Effect,
  elsewhere,
  type FieldGroup,
  keptAtNull,
  ON,
  refused,
  shown,
  W,
  warned,
} from './field-effects.ts';

const flags = (names: readonly string[], effect: Effect) =>
  Object.fromEntries(names.map((name) => [name, effect]));
const within = (group: string, fields: Readonly<Record<string, Effect>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, effect]) => [`${group}/${name}`, effect]));

const CUSTOM = { access: 'custom' };
const GRANTS_TEST = 'src/workspaces/team-access/grants.integration.test.ts';
const VARIABLES_TEST = 'src/workspaces/variables/variables.integration.test.ts';
const SETS_TEST = 'src/workspaces/variable-sets/variable-sets.integration.test.ts';
const TAGS_TEST = 'src/workspaces/tags/tags.integration.test.ts';
const SWITCHES_TEST = 'src/identity/administration/organization-administration.integration.test.ts';
const PART_SWITCHES_TEST = 'src/vcs/repository-work/part-switches.integration.test.ts';
const LOGINS_TEST = 'src/identity/command-logins/command-logins.integration.test.ts';
const TWO_FACTOR_TEST = 'src/identity/two-factor/two-factor.integration.test.ts';
const LIFETIMES_TEST = 'src/identity/token-lifetimes/token-lifetimes.integration.test.ts';
const MEMBERS_TEST = 'src/identity/teams/organization-memberships.integration.test.ts';
const AUTHORIZATION_TEST = 'src/vcs/authorization/authorization.integration.test.ts';
const AGENTS_TEST = 'src/runs/agents/agents.integration.test.ts';
const POOLS_TEST = 'src/workspaces/agent-pools/agent-pools.integration.test.ts';

const bindings = (file = TAGS_TEST) => ({
  '@tag-bindings/key': elsewhere(file, 'tag-bindings'),
  '@tag-bindings/value': elsewhere(file, 'tag-bindings'),
});
const variable = {
  // The value of a sensitive one is read as null, and written back by clients.
  value: keptAtNull('text'),
  description: shown('what it is for'),
  hcl: shown(true),
  sensitive: shown(true),
  key: shown('other_key'),
  category: shown('env'),
};

export const FIELD_GROUPS: Readonly<Record<string, FieldGroup>> = {
  organizations: {
    routes: ['POST /organizations', `PATCH ${ON}`, `PUT ${ON}`],
    least: { email: 'a@b.example' },
    triedOn: ['create', 'update'],
    fields: {
      name: shown('another-organization'),
      email: shown('other@b.example'),
      'session-timeout': warned(20),
      'session-remember': warned(20),
      'collaborator-auth-policy': elsewhere(TWO_FACTOR_TEST),
      'owners-team-saml-role-id': warned('role'),
      ...flags(
        [
          'cost-estimation-enabled',
          'send-passing-statuses-for-untriggered-speculative-plans',
          'aggregated-commit-status-enabled',
          'speculative-plan-management-enabled',
        ],
        warned(true),
      ),
      // Shown as false, because clients offer stacks where it is true.
      'stacks-enabled': elsewhere('src/identity/organizations/organizations.integration.test.ts'),
      ...flags(
        ['assessments-enforced', 'members-leave-with-last-team', 'allow-force-delete-workspaces'],
        shown(true),
      ),
      'user-tokens-enabled': shown(false),
      'max-ttl-enabled': elsewhere(LIFETIMES_TEST),
      ...flags(['enforce-hyok', 'registry-monorepo-support-enabled'], refused(true)),
      'default-execution-mode': shown('local'),
      'default-agent-pool-id': elsewhere(POOLS_TEST),
      '@default-agent-pool': elsewhere(
        'src/identity/organizations/organizations.integration.test.ts',
      ),
    },
  },
  teams: {
    routes: [`POST ${ON}/teams`, 'PATCH /teams/{team_id}'],
    triedOn: ['create', 'update'],
    fields: {
      name: shown('another team'),
      visibility: shown('organization'),
      'sso-team-id': shown('sso'),
      'allow-member-token-management': shown(false),
      ...flags(
        [
          'organization-access/access-secret-teams',
          'organization-access/manage-agent-pools',
          'organization-access/manage-membership',
          'organization-access/manage-organization-access',
          'organization-access/manage-projects',
          'organization-access/manage-teams',
          'organization-access/manage-vcs-settings',
          'organization-access/manage-workspaces',
          'organization-access/read-projects',
          'organization-access/read-workspaces',
        ],
        shown(true),
      ),
      ...flags(
        [
          'organization-access/delegate-policy-overrides',
          'organization-access/manage-modules',
          'organization-access/manage-policies',
          'organization-access/manage-policy-overrides',
          'organization-access/manage-providers',
          'organization-access/manage-run-tasks',
        ],
        warned(true),
      ),
    },
  },
  'members of teams': {
    routes: ['POST', 'DELETE'].flatMap((method) => [
      `${method} /teams/{team_id}/relationships/users`,
      `${method} /teams/{team_id}/relationships/organization-memberships`,
    ]),
    fields: { id: elsewhere(MEMBERS_TEST, 'relationships/users') },
  },
  'organization memberships': {
    routes: [`POST ${ON}/organization-memberships`],
    fields: { email: elsewhere(MEMBERS_TEST), '@teams': elsewhere(MEMBERS_TEST) },
  },
  users: {
    routes: ['POST /admin/users', 'PATCH /admin/users/{user_id}'],
    fields: {
      username: elsewhere('src/identity/users/users.integration.test.ts'),
      email: elsewhere('src/identity/users/users.integration.test.ts'),
      'is-site-admin': elsewhere('test/callers.integration.test.ts'),
      password: elsewhere('src/identity/administration/user-administration.integration.test.ts'),
    },
  },
  'switches of agent pools and OAuth clients': {
    routes: [
      'PATCH /admin/agent-pools/{agent_pool_id}',
      'PATCH /admin/oauth-clients/{oauth_client_id}',
    ],
    fields: { 'is-disabled': elsewhere(PART_SWITCHES_TEST) },
  },
  'switches of organizations': {
    routes: ['PATCH /admin/organizations/{organization_name}'],
    fields: {
      'is-disabled': elsewhere(SWITCHES_TEST),
      'is-draining': elsewhere(SWITCHES_TEST),
    },
  },
  'logins of commands': {
    routes: ['POST /command-logins'],
    fields: {
      'response-type': elsewhere(LOGINS_TEST),
      'client-id': elsewhere(LOGINS_TEST),
      'redirect-uri': elsewhere(LOGINS_TEST),
      'code-challenge': elsewhere(LOGINS_TEST),
      'code-challenge-method': elsewhere(LOGINS_TEST),
      state: elsewhere(LOGINS_TEST),
      approved: elsewhere(LOGINS_TEST),
    },
  },
  tokens: {
    routes: [
      'POST /users/{user_id}/authentication-tokens',
      'POST /teams/{team_id}/authentication-tokens',
      'POST /teams/{team_id}/authentication-token',
      `POST ${ON}/authentication-token`,
      'POST /agent-pools/{agent_pool_id}/authentication-tokens',
    ],
    triedOn: ['create'],
    fields: {
      description: shown('for the pipeline'),
      'expired-at': shown('2090-01-01T00:00:00.000Z'),
    },
  },
  projects: {
    routes: [`POST ${ON}/projects`, 'PATCH /projects/{project_id}'],
    triedOn: ['create', 'update'],
    fields: {
      name: shown('another project'),
      description: shown('what it is for'),
      'auto-destroy-activity-duration': shown('9d'),
      'default-execution-mode': keptAtNull('local'),
      'default-agent-pool-id': elsewhere(POOLS_TEST),
      'setting-overwrites/default-execution-mode': shown(true, true, {
        'default-execution-mode': 'local',
      }),
      'setting-overwrites/default-agent-pool': shown(true, true, {
        'default-execution-mode': 'local',
      }),
      '@default-agent-pool': elsewhere(POOLS_TEST),
      ...bindings(),
    },
  },
  workspaces: {
    routes: [`POST ${ON}/workspaces`, `PATCH ${W}`, `PATCH ${ON}/workspaces/{workspace_name}`],
    triedOn: ['create', 'update'],
    fields: {
      name: shown('another-workspace'),
      'agent-pool-id': elsewhere(POOLS_TEST),
      'allow-destroy-plan': shown(false),
      'assessments-enabled': shown(true),
      'auto-apply': shown(true),
      'auto-apply-run-trigger': shown(true),
      'auto-destroy-at': shown('2090-01-01T00:00:00.000Z'),
      'auto-destroy-activity-duration': shown('9d'),
      description: shown('what it is for'),
      // A client that gives `operations` writes null.
      'execution-mode': keptAtNull('local'),
      'file-triggers-enabled': shown(false),
      'inherits-project-auto-destroy': shown(false),
      'global-remote-state': shown(true),
      'project-remote-state': shown(true),
      operations: shown(false),
      'queue-all-runs': shown(true),
      'runtime-version': shown('1.5.7'),
      'setting-overwrites/execution-mode': shown(true, true, { 'execution-mode': 'local' }),
      'setting-overwrites/agent-pool': shown(true, true, { 'execution-mode': 'local' }),
      'speculative-enabled': shown(false),
      'structured-run-output-enabled': shown(false),
      'trigger-patterns': shown(['a/**']),
      'trigger-prefixes': shown(['a']),
      ...within('vcs-repo', {
        branch: elsewhere('src/workspaces/lifecycle/workspace-attributes.integration.test.ts'),
        identifier: elsewhere('src/workspaces/lifecycle/workspace-attributes.integration.test.ts'),
        'ingress-submodules': elsewhere(
          'src/workspaces/lifecycle/workspace-attributes.integration.test.ts',
        ),
        'oauth-token-id': elsewhere(
          'src/workspaces/lifecycle/workspace-attributes.integration.test.ts',
        ),
        'tags-regex': elsewhere(
          'src/workspaces/lifecycle/workspace-attributes.integration.test.ts',
        ),
        'vcs-app-installation-id': refused('ghain-1'),
        'github-app-installation-id': refused('ghain-1'),
      }),
      'hyok-enabled': refused(true),
      'migration-environment': refused('prod'),
      'working-directory': shown('live/app'),
      'source-name': elsewhere('src/workspaces/lifecycle/workspace-attributes.integration.test.ts'),
      'source-url': elsewhere('src/workspaces/lifecycle/workspace-attributes.integration.test.ts'),
      '@project': elsewhere(
        'src/workspaces/lifecycle/workspace-document.integration.test.ts',
        'project',
      ),
      '@tags/name': elsewhere(TAGS_TEST, 'tag-names'),
      ...bindings(),
    },
  },
  locks: {
    routes: [`POST ${W}/actions/lock`],
    fields: { reason: elsewhere('src/workspaces/locking/locking.integration.test.ts') },
  },
  'lists of workspaces': {
    routes: [
      'POST /projects/{project_id}/relationships/workspaces',
      ...['POST', 'PATCH', 'DELETE'].map(
        (method) => `${method} ${W}/relationships/remote-state-consumers`,
      ),
      'POST /tags/{tag_id}/relationships/workspaces',
      'POST /varsets/{varset_id}/relationships/workspaces',
      'DELETE /varsets/{varset_id}/relationships/workspaces',
    ],
    fields: { id: elsewhere('test/callers.integration.test.ts') },
  },
  tags: {
    routes: [`POST ${W}/relationships/tags`, `DELETE ${W}/relationships/tags`, `DELETE ${ON}/tags`],
    fields: {
      id: elsewhere('src/workspaces/tags/organization-tags.integration.test.ts'),
      name: elsewhere(TAGS_TEST, 'relationships/tags'),
    },
  },
  'tag bindings': {
    routes: [
      `PATCH ${W}/tag-bindings`,
      `POST ${W}/relationships/tag-bindings`,
      `PATCH ${W}/relationships/tag-bindings`,
      'PATCH /projects/{project_id}/tag-bindings',
      'POST /projects/{project_id}/relationships/tag-bindings',
      'PATCH /projects/{project_id}/relationships/tag-bindings',
    ],
    fields: {
      key: elsewhere(TAGS_TEST, 'tag-bindings'),
      value: elsewhere(TAGS_TEST, 'tag-bindings'),
    },
  },
  'reserved tag keys': {
    routes: [
      `POST ${ON}/reserved-tag-keys`,
      'PATCH /reserved-tags/{reserved_key_id}',
      'PATCH /reserved-tag-keys/{reserved_key_id}',
    ],
    triedOn: ['create', 'update'],
    fields: { key: shown('another-key'), 'disable-overrides': shown(true) },
  },
  'access to workspaces': {
    routes: ['POST /team-workspaces', 'PATCH /team-workspaces/{grant_id}'],
    least: { access: 'custom' },
    triedOn: ['create', 'update'],
    fields: {
      access: shown('admin'),
      runs: shown('apply', 'apply', CUSTOM),
      variables: shown('write', 'write', CUSTOM),
      'state-versions': shown('write', 'write', CUSTOM),
      'sentinel-mocks': warned('read', CUSTOM),
      'workspace-locking': shown(true, true, CUSTOM),
      'run-tasks': warned(true, CUSTOM),
      'policy-overrides': refused(true),
      '@team': elsewhere(GRANTS_TEST, 'team:'),
      '@workspace': elsewhere(GRANTS_TEST, 'workspace:'),
    },
  },
  'access to projects': {
    routes: ['POST /team-projects', 'PATCH /team-projects/{grant_id}'],
    least: { access: 'custom' },
    triedOn: ['create', 'update'],
    fields: {
      access: shown('maintain'),
      ...within('project-access', {
        settings: shown('delete', 'delete', CUSTOM),
        teams: shown('manage', 'manage', CUSTOM),
        'variable-sets': shown('write', 'write', CUSTOM),
      }),
      ...within('workspace-access', {
        runs: shown('apply', 'apply', CUSTOM),
        'sentinel-mocks': warned('read', CUSTOM),
        'state-versions': shown('write', 'write', CUSTOM),
        variables: shown('write', 'write', CUSTOM),
        create: shown(true, true, CUSTOM),
        locking: shown(true, true, CUSTOM),
        delete: shown(true, true, CUSTOM),
        move: shown(true, true, CUSTOM),
        'run-tasks': warned(true, CUSTOM),
        'policy-overrides': refused(true),
      }),
      '@team': elsewhere(GRANTS_TEST, 'team:'),
      '@project': elsewhere(GRANTS_TEST, 'project'),
    },
  },
  'SSH keys': {
    routes: [`POST ${ON}/ssh-keys`, 'PATCH /ssh-keys/{ssh_key_id}'],
    least: { name: 'key', value: 'secret' },
    triedOn: ['create', 'update'],
    fields: {
      name: shown('another key'),
      value: elsewhere(AGENTS_TEST),
    },
  },
  'assignment of SSH keys': {
    routes: [`PATCH ${W}/relationships/ssh-key`],
    fields: { id: elsewhere(GRANTS_TEST, 'ssh-key') },
  },
  variables: {
    routes: [
      `POST ${W}/vars`,
      `PATCH ${W}/relationships/vars`,
      `PATCH ${W}/vars/{variable_id}`,
      'POST /vars',
      'PATCH /vars/{variable_id}',
      'POST /varsets/{varset_id}/relationships/vars',
      'PATCH /varsets/{varset_id}/relationships/vars/{variable_id}',
    ],
    least: { key: 'key', category: 'terraform' },
    triedOn: ['create', 'update'],
    fields: {
      ...variable,
      // A sensitive variable cannot change its category, and shows no value.
      id: elsewhere(VARIABLES_TEST, 'relationships/vars'),
      '@workspace': elsewhere(VARIABLES_TEST, 'workspace'),
    },
  },
  'variable sets': {
    routes: [`POST ${ON}/varsets`, 'PATCH /varsets/{varset_id}', 'PUT /varsets/{varset_id}'],
    triedOn: ['create', 'update'],
    fields: {
      name: shown('another set'),
      description: shown('what it is for'),
      global: shown(true),
      priority: shown(true),
      '@workspaces': elsewhere(SETS_TEST, 'workspaces'),
      '@projects': elsewhere(SETS_TEST, 'projects'),
      '@stacks': elsewhere(SETS_TEST, 'stacks'),
      '@parent': elsewhere(SETS_TEST, 'parent'),
      ...Object.fromEntries(
        Object.keys(variable).map((name) => [`@vars/${name}`, elsewhere(SETS_TEST, 'vars')]),
      ),
    },
  },
  'projects and stacks of variable sets': {
    routes: ['projects', 'stacks'].flatMap((kind) =>
      ['POST', 'DELETE'].map((method) => `${method} /varsets/{varset_id}/relationships/${kind}`),
    ),
    fields: { id: elsewhere(SETS_TEST, 'relationships/') },
  },
  'agent pools': {
    routes: [`POST ${ON}/agent-pools`, 'PATCH /agent-pools/{agent_pool_id}'],
    triedOn: ['create', 'update'],
    fields: {
      name: shown('another-pool'),
      'organization-scoped': shown(false),
      'allowed-egress': shown(['registry.example.com', '10.1.0.0/16']),
      '@allowed-workspaces': elsewhere(POOLS_TEST),
      '@allowed-projects': elsewhere(POOLS_TEST),
      '@excluded-workspaces': elsewhere(POOLS_TEST),
    },
  },
  'OAuth clients': {
    routes: [`POST ${ON}/oauth-clients`, 'PATCH /oauth-clients/{oauth_client_id}'],
    least: {
      'service-provider': 'github',
      'http-url': 'https://github.example',
      'api-url': 'https://api.github.example',
      'oauth-token-string': 'secret',
    },
    triedOn: ['create', 'update'],
    fields: {
      name: shown('another name'),
      key: warned('key'),
      secret: warned('secret'),
      'rsa-public-key': warned('key'),
      'private-key': warned('key'),
      'organization-scoped': shown(false),
      'service-provider': shown('gitlab_hosted'),
      'http-url': shown('https://other.example'),
      'api-url': shown('https://api.other.example'),
      'oauth-token-string': elsewhere('src/vcs/pushes.integration.test.ts', 'createClient'),
      '@projects': elsewhere('src/workspaces/oauth/oauth.integration.test.ts'),
      '@agent-pool': elsewhere('src/vcs/agent-work/agent-work.integration.test.ts'),
    },
  },
  'authorizations of OAuth clients': {
    routes: ['POST /oauth-clients/{oauth_client_id}/actions/complete-authorization'],
    fields: {
      'oauth-token': elsewhere(AUTHORIZATION_TEST),
      'oauth-verifier': elsewhere(AUTHORIZATION_TEST),
    },
  },
  'projects of OAuth clients': {
    routes: ['POST', 'DELETE'].map(
      (method) => `${method} /oauth-clients/{oauth_client_id}/relationships/projects`,
    ),
    fields: {
      id: elsewhere('src/workspaces/oauth/oauth.integration.test.ts', 'relationships/projects'),
    },
  },
  'OAuth tokens': {
    routes: ['PATCH /oauth-tokens/{oauth_token_id}'],
    triedOn: ['update'],
    fields: {
      'ssh-key': elsewhere('src/workspaces/oauth/oauth.integration.test.ts'),
      '@ssh-key': elsewhere('src/workspaces/oauth/oauth.integration.test.ts'),
    },
  },
  'notification configurations': {
    routes: [
      'POST /workspaces/{workspace_id}/notification-configurations',
      'POST /projects/{project_id}/notification-configurations',
      'POST /teams/{team_id}/notification-configurations',
      'PATCH /notification-configurations/{notification_configuration_id}',
    ],
    least: { name: 'n', 'destination-type': 'generic', url: 'https://hook.example' },
    triedOn: ['create', 'update'],
    fields: {
      name: shown('another name'),
      // Verified first, for which a destination has to answer.
      enabled: elsewhere('src/workspaces/notifications/notifications.integration.test.ts'),
      url: shown('https://other.example/hook'),
      token: elsewhere('src/workspaces/notifications/notifications.integration.test.ts'),
      triggers: shown(['run:created']),
      'destination-type': elsewhere(
        'src/workspaces/notifications/notifications.integration.test.ts',
      ),
      'email-addresses': elsewhere(
        'src/workspaces/notifications/notifications.integration.test.ts',
      ),
      '@users': elsewhere('src/workspaces/notifications/notifications.integration.test.ts'),
    },
  },
  ...RUN_FIELD_GROUPS,
  ...SIGN_IN_FIELD_GROUPS,
};
