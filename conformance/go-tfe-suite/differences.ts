/** The tests of go-tfe that do not pass, and the reasons. */

/** Patterns of the names of tests that need a feature which is not offered, or more than this machine. */
export const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  // The last one ends the whole program by a fault of its own when the request is refused.
  policies: [
    'TestPolic',
    'TFPolicy',
    'TestRunsReadWithPolicyPaths',
    'AddPolicyOverrides',
    'TestTeamProjectAccessesAdd/.*policy_overrides',
  ],
  'a registry': ['Registry', 'GPG', 'TestTest', 'ProviderSet'],
  'run tasks': ['RunTask', 'TaskStage'],
  stacks: ['Stack'],
  'cost estimates, for which the tests wait': ['CostEstimate'],
  'single sign-on, and credentials of runs': ['OIDC', 'SAML', 'SCIM'],
  'keys of the customer': ['HYOK'],
  'site administration': ['TestAdmin'],
  'settings of audit logs': ['AuditConfiguration'],
  'exports of plans': ['PlanExport'],
  'runs of queries': ['QueryRun'],
  'addresses of the hosted service': ['IPRanges'],
  "the vendor's agent, which is downloaded": ['TestAgents(List|Read)$'],
  'hosts of the internet': ['^Test_(Default)?BaseURL$'],
  'the client alone, for minutes': ['TestLogReader'],
  // It sends the time without the part of a second, and refuses the events of the same second that it gets.
  'times within a second': ['TestAuditTrailsList/using_since_query_param'],
  // They take the first of a list for the one that they created; the document leaves the order open.
  'an order of lists': [
    'TestWorkspacesList_RunDependent/with_current-state-version',
    'TestProjectsList/when_including_effective_tags',
  ],
};

const FILE_DECIDES = 'serial and lineage are those of the file (ruling 25)';
const NO_KEY_PAIR = 'the texts are no keys, with which no request could be signed (ruling 29)';
const NOT_ENTITLED = 'rights and entitlements are true only where the feature exists (ruling 29)';

const OAUTH_KEYS = 'TestOAuthClientsUpdate_rsaKeyPair';
const STATES = 'TestStateVersionsCreate_RunDependent';
const TEAM_TOKENS = 'TestTeamTokens_CreateWithOptions_MultipleTokens';

/**
 * Tests that fail, and why. The reasons are in docs/divergences/workspaces.md; numbers are those of the rulings that
 * came with the specification.
 */
export const DIFFERENCES: Readonly<Record<string, string>> = {
  'TestConfigurationVersionsCreate/provisional':
    'the current configuration of a workspace is one that was uploaded',
  'TestNotificationConfigurationList/with_a_valid_workspace': 'the list has pages',
  'TestNotificationConfigurationsCreate_byType/with_trigger_assessment:check_failure_and_all_required_values':
    'a trigger that is never sent is refused (ruling 29)',
  'TestOAuthClientsCreate_rsaKeyPair/with_key,_rsa_public/private_key_options': NO_KEY_PAIR,
  [`${OAUTH_KEYS}/updates_a_new_key`]: NO_KEY_PAIR,
  [`${OAUTH_KEYS}/errors_when_missing_key`]: NO_KEY_PAIR,
  TestOAuthClientsReadWithOptions: 'the test names a project of another organization',
  'TestOrganizationsRead/when_the_org_exists/timestamps_are_populated':
    'no modules can be tested, so that none remain',
  'TestOrganizationsReadEntitlements/when_the_org_exists': NOT_ENTITLED,
  'TestOrganizationsReadWithBusiness/when_the_org_exists/permissions_are_properly_decoded':
    NOT_ENTITLED,
  'TestOrganizationsUpdate/with_new_UserTokensEnabled_option':
    'owners, who can undo user-tokens-enabled, are not locked out',
  'TestRunsCreate_RunDependent/with_action_invocations': 'runs invoke no actions (ruling 29)',
  'TestRunsCreate_RunDependent/with_policy_paths': 'there are no policies (ruling 29)',
  [`${STATES}/with_external_state_representation`]: FILE_DECIDES,
  [`${STATES}/with_the_force_flag_set`]: FILE_DECIDES,
  [`${STATES}/with_valid_options`]: FILE_DECIDES,
  [`${TEAM_TOKENS}/when_a_token_already_exists_with_the_same_description`]:
    'the title of the error is the one of all such errors, without a plural',
  [`${TEAM_TOKENS}/with_multiple_tokens`]: 'an empty description counts as absent, which is null',
  TestUsersReadCurrent: 'users have no pictures',
};
