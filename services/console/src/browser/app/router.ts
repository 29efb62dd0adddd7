/** The routes of the console. Pages other than the frame are loaded when they are first shown. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  parseSearchWith,
  redirect,
  stringifySearchWith,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { parseActivitySearch } from '../activity/activity-search.ts';
import { isSignedIn, readSession } from '../api/session.ts';
import { parseCertificateSearch } from '../certificates/certificate-search.ts';
import { parseCertifySearch } from '../certificates/certify/certify-search.ts';
import { parseMountTab } from '../certificates/mount-tab.ts';
import { parseMessageSearch } from '../messages/message-search.ts';
import { parseProjectSearch } from '../projects/project-search.ts';
import {
  CLIENT_SIGN_IN_PATH,
  enterForClient,
  parseClientRequest,
} from '../session/client-sign-in.ts';
import { COMMAND_LOGIN_PATH, parseCommandLogin } from '../session/command-login.ts';
import { PROVIDER_RETURN_PATH, parseProviderAnswer } from '../session/sign-in-methods.ts';
import { SSO_RETURN_PATH } from '../session/single-sign-on.ts';
import { parsePeopleSearch } from '../site/people-search.ts';
import { parseSentBack } from '../version-control/authorization.ts';
import { parseRunSearch } from '../workspaces/run-search.ts';
import { parseWorkspaceSearch } from '../workspaces/workspace-search.ts';
import { parseWorkspaceTab } from '../workspaces/workspace-tab.ts';
import { Frame } from './frame.tsx';
import { NotFound, PageError, PageLoading } from './page-states.tsx';
import { CONFIRM_EMAIL_PATH, INVITATION_PATH, LINK_PATHS, NEW_PASSWORD_PATH } from './screens.ts';

/**
 * A page in a file of its own. Before the sign-in, its address shows the form for that: the file is loaded afterwards.
 * @param name of the component in the file
 */
const page = <Name extends string>(
  load: () => Promise<Readonly<Record<Name, () => ReactNode>>>,
  name: Name,
) => {
  const Shown = lazyRouteComponent(load, name);
  const { preload } = Shown;
  Shown.preload = async () => {
    if (isSignedIn(readSession()) || LINK_PATHS.includes(location.pathname)) await preload?.();
  };
  return Shown;
};

const root = createRootRoute({ component: Frame, notFoundComponent: NotFound });
const parent = { getParentRoute: () => root } as const;

const overview = createRoute({
  ...parent,
  path: '/ui/',
  component: page(() => import('../overview/overview-page.tsx'), 'OverviewPage'),
});
const messages = createRoute({
  ...parent,
  path: '/ui/messages',
  validateSearch: parseMessageSearch,
  component: page(() => import('../messages/messages-page.tsx'), 'MessagesPage'),
});
const replication = createRoute({
  ...parent,
  path: '/ui/replication',
  component: page(() => import('../replication/replication-page.tsx'), 'ReplicationPage'),
});
const policies = createRoute({
  ...parent,
  path: '/ui/policies',
  component: page(() => import('../policies/policies-page.tsx'), 'PoliciesPage'),
});
const policy = createRoute({
  ...parent,
  path: '/ui/policies/$name',
  component: page(() => import('../policies/policy-page.tsx'), 'PolicyPage'),
});
const tokens = createRoute({
  ...parent,
  path: '/ui/tokens',
  component: page(() => import('../tokens/tokens-page.tsx'), 'TokensPage'),
});
const mounts = createRoute({
  ...parent,
  path: '/ui/mounts',
  component: page(() => import('../mounts/mounts-page.tsx'), 'MountsPage'),
});
const audit = createRoute({
  ...parent,
  path: '/ui/audit',
  component: page(() => import('../audit/audit-page.tsx'), 'AuditPage'),
});
const passkeys = createRoute({
  ...parent,
  path: '/ui/passkeys',
  component: page(() => import('../passkeys/passkeys-page.tsx'), 'PasskeysPage'),
});
const secondFactors = createRoute({
  ...parent,
  path: '/ui/second-factors',
  component: page(() => import('../second-factors/second-factors-page.tsx'), 'SecondFactorsPage'),
});
const snapshots = createRoute({
  ...parent,
  path: '/ui/snapshots',
  component: page(() => import('../snapshots/snapshots-page.tsx'), 'SnapshotsPage'),
});
const namespaces = createRoute({
  ...parent,
  path: '/ui/namespaces',
  component: page(() => import('../namespaces/namespaces-page.tsx'), 'NamespacesPage'),
});
const leases = createRoute({
  ...parent,
  path: '/ui/leases',
  component: page(() => import('../leases/leases-page.tsx'), 'LeasesPage'),
});
const certificates = createRoute({
  ...parent,
  path: '/ui/certificates',
  component: page(() => import('../certificates/authorities-page.tsx'), 'AuthoritiesPage'),
});
const authority = createRoute({
  ...parent,
  path: '/ui/certificates/$mount',
  validateSearch: (search) => ({ ...parseMountTab(search), ...parseCertificateSearch(search) }),
  component: page(() => import('../certificates/authority-page.tsx'), 'AuthorityPage'),
});
const certificate = createRoute({
  ...parent,
  path: '/ui/certificates/$mount/certificate/$serial',
  component: page(() => import('../certificates/certificate-page.tsx'), 'CertificatePage'),
});
const issuer = createRoute({
  ...parent,
  path: '/ui/certificates/$mount/issuer/$issuer',
  component: page(() => import('../certificates/issuer/issuer-page.tsx'), 'IssuerPage'),
});
const certify = createRoute({
  ...parent,
  path: '/ui/certificates/$mount/certify',
  validateSearch: parseCertifySearch,
  component: page(() => import('../certificates/certify/certify-page.tsx'), 'CertifyPage'),
});
const organizations = createRoute({
  ...parent,
  path: '/app',
  component: page(() => import('../organizations/organizations-page.tsx'), 'OrganizationsPage'),
});
const invitation = createRoute({
  ...parent,
  path: INVITATION_PATH,
  component: page(() => import('../session/invitation-page.tsx'), 'InvitationPage'),
});
const confirmEmail = createRoute({
  ...parent,
  path: CONFIRM_EMAIL_PATH,
  component: page(() => import('../session/confirm-email-page.tsx'), 'ConfirmEmailPage'),
});
const newPassword = createRoute({
  ...parent,
  path: NEW_PASSWORD_PATH,
  component: page(() => import('../session/new-password-page.tsx'), 'NewPasswordPage'),
});
const account = createRoute({
  ...parent,
  path: '/app/settings/account',
  component: page(() => import('../account/account-page.tsx'), 'AccountPage'),
});
const providerReturn = createRoute({
  ...parent,
  path: PROVIDER_RETURN_PATH,
  validateSearch: parseProviderAnswer,
  component: page(() => import('../session/provider-return-page.tsx'), 'ProviderReturnPage'),
});
const ssoReturn = createRoute({
  ...parent,
  path: SSO_RETURN_PATH,
  validateSearch: parseProviderAnswer,
  component: page(() => import('../session/sso-return-page.tsx'), 'SsoReturnPage'),
});
const commandLogin = createRoute({
  ...parent,
  path: COMMAND_LOGIN_PATH,
  validateSearch: parseCommandLogin,
  component: page(() => import('../session/command-login-page.tsx'), 'CommandLoginPage'),
});
const clientSignIn = createRoute({
  ...parent,
  path: CLIENT_SIGN_IN_PATH,
  validateSearch: parseClientRequest,
  beforeLoad: ({ search, params }) => {
    const instead = enterForClient(search);
    if (instead !== undefined)
      // oxlint-disable-next-line typescript/only-throw-error -- the router recognizes this object
      throw redirect({ to: CLIENT_SIGN_IN_PATH, params, search: instead, replace: true });
  },
  component: page(() => import('../session/client-sign-in-page.tsx'), 'ClientSignInPage'),
});
const apiTokens = createRoute({
  ...parent,
  path: '/app/settings/tokens',
  component: page(() => import('../organizations/api-tokens-page.tsx'), 'ApiTokensPage'),
});
const siteSignIn = createRoute({
  ...parent,
  path: '/app/settings/sign-in',
  component: page(() => import('../site/sign-in-page.tsx'), 'SiteSignInPage'),
});
const people = createRoute({
  ...parent,
  path: '/app/settings/people',
  validateSearch: parsePeopleSearch,
  component: page(() => import('../site/people-page.tsx'), 'PeoplePage'),
});
const organizationSettings = createRoute({
  ...parent,
  path: '/app/$organization/settings',
  component: page(() => import('../organizations/organization-page.tsx'), 'OrganizationPage'),
});
const workspaces = createRoute({
  ...parent,
  path: '/app/$organization/workspaces',
  validateSearch: parseWorkspaceSearch,
  component: page(() => import('../workspaces/workspaces-page.tsx'), 'WorkspacesPage'),
});
const workspace = createRoute({
  ...parent,
  path: '/app/$organization/workspaces/$workspace',
  validateSearch: (search) => ({ ...parseWorkspaceTab(search), ...parseRunSearch(search) }),
  component: page(() => import('../workspaces/workspace-page.tsx'), 'WorkspacePage'),
});
const projects = createRoute({
  ...parent,
  path: '/app/$organization/projects',
  validateSearch: parseProjectSearch,
  component: page(() => import('../projects/projects-page.tsx'), 'ProjectsPage'),
});
const teams = createRoute({
  ...parent,
  path: '/app/$organization/teams',
  component: page(() => import('../teams/teams-page.tsx'), 'TeamsPage'),
});
const team = createRoute({
  ...parent,
  path: '/app/$organization/teams/$team',
  component: page(() => import('../teams/team-page.tsx'), 'TeamPage'),
});
const agentPools = createRoute({
  ...parent,
  path: '/app/$organization/agent-pools',
  component: page(() => import('../agents/agent-pools-page.tsx'), 'AgentPoolsPage'),
});
const variableSets = createRoute({
  ...parent,
  path: '/app/$organization/variable-sets',
  component: page(() => import('../variable-sets/variable-sets-page.tsx'), 'VariableSetsPage'),
});
const activity = createRoute({
  ...parent,
  path: '/app/$organization/activity',
  validateSearch: parseActivitySearch,
  component: page(() => import('../activity/activity-page.tsx'), 'ActivityPage'),
});
const versionControl = createRoute({
  ...parent,
  path: '/app/$organization/version-control',
  component: page(() => import('../version-control/oauth-clients-page.tsx'), 'OAuthClientsPage'),
});
// To which providers send people back.
const oauthClient = createRoute({
  ...parent,
  path: '/app/$organization/version-control/$client',
  validateSearch: parseSentBack,
  component: page(() => import('../version-control/oauth-client-page.tsx'), 'OAuthClientPage'),
});
// The URL of a run that provisioning clients print.
const run = createRoute({
  ...parent,
  path: '/app/$organization/$workspace/runs/$run',
  component: page(() => import('../runs/run-page.tsx'), 'RunPage'),
});

/** Numbers whose text they give back have been recognized before: another, such as "12e456", is a text. */
const parseValue = (text: string): unknown => {
  const value: unknown = JSON.parse(text);
  return typeof value === 'number' ? text : value;
};

export const router = createRouter({
  parseSearch: parseSearchWith(parseValue),
  stringifySearch: stringifySearchWith(JSON.stringify, parseValue),
  routeTree: root.addChildren([
    overview,
    messages,
    replication,
    policies,
    policy,
    tokens,
    mounts,
    audit,
    passkeys,
    secondFactors,
    snapshots,
    namespaces,
    leases,
    certificates,
    authority,
    certificate,
    issuer,
    certify,
    organizations,
    invitation,
    confirmEmail,
    newPassword,
    account,
    providerReturn,
    ssoReturn,
    commandLogin,
    clientSignIn,
    apiTokens,
    siteSignIn,
    people,
    organizationSettings,
    workspaces,
    workspace,
    projects,
    teams,
    team,
    agentPools,
    variableSets,
    activity,
    versionControl,
    oauthClient,
    run,
  ]),
  defaultPreload: 'intent',
  defaultErrorComponent: PageError,
  defaultPendingComponent: PageLoading,
  trailingSlash: 'preserve',
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
