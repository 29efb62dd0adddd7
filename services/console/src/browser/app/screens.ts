/** The screens that navigation and search offer. */
import type { TokenKind } from '../api/session.ts';
import { PROVIDER_RETURN_PATH } from '../session/sign-in-methods.ts';
import { SSO_RETURN_PATH } from '../session/single-sign-on.ts';

/** The link of an invitation; the code follows after "#". */
export const INVITATION_PATH = '/app/invitation';

/** The link that confirms a mail address; the code follows after "#". */
export const CONFIRM_EMAIL_PATH = '/app/confirm-email';

/** The link for a new password; the code follows after "#", and without one it is asked for. */
export const NEW_PASSWORD_PATH = '/app/new-password';

/** Only administrators of the site manage people, and change how they sign in. */
export const SITE_PATHS: ReadonlySet<string> = new Set([
  '/app/settings/people',
  '/app/settings/sign-in',
]);

/** Pages for somebody without a session. */
export const LINK_PATHS: readonly string[] = [
  INVITATION_PATH,
  CONFIRM_EMAIL_PATH,
  NEW_PASSWORD_PATH,
  PROVIDER_RETURN_PATH,
  SSO_RETURN_PATH,
];

export interface Screen {
  readonly to:
    | '/ui/'
    | '/ui/certificates'
    | '/ui/policies'
    | '/ui/tokens'
    | '/ui/mounts'
    | '/ui/audit'
    | '/ui/snapshots'
    | '/ui/namespaces'
    | '/ui/leases'
    | '/ui/passkeys'
    | '/ui/second-factors'
    | '/ui/messages'
    | '/ui/replication'
    | '/app'
    | '/app/settings/account'
    | '/app/settings/tokens'
    | '/app/settings/people'
    | '/app/settings/sign-in';
  readonly title: string;
  readonly needs: TokenKind;
}

export interface ScreenGroup {
  readonly title: 'Workspaces' | 'Certificates' | 'Cluster';
  readonly needs: TokenKind;
  readonly screens: readonly Screen[];
}

const screens = (
  needs: TokenKind,
  entries: readonly (readonly [Screen['to'], string])[],
): readonly Screen[] => entries.map(([to, title]) => ({ to, title, needs }));

export const SCREEN_GROUPS: readonly ScreenGroup[] = [
  {
    title: 'Workspaces',
    needs: 'workspaces',
    screens: screens('workspaces', [
      ['/app', 'Organizations'],
      ['/app/settings/tokens', 'API tokens'],
      ['/app/settings/account', 'Account'],
      ['/app/settings/people', 'People'],
      ['/app/settings/sign-in', 'Sign-in'],
    ]),
  },
  {
    title: 'Certificates',
    needs: 'secrets',
    screens: screens('secrets', [['/ui/certificates', 'Authorities']]),
  },
  {
    title: 'Cluster',
    needs: 'secrets',
    screens: screens('secrets', [
      ['/ui/', 'Overview'],
      ['/ui/policies', 'Policies'],
      ['/ui/tokens', 'Tokens'],
      ['/ui/passkeys', 'Passkeys'],
      ['/ui/second-factors', 'Second factors'],
      ['/ui/mounts', 'Mounts'],
      ['/ui/namespaces', 'Namespaces'],
      ['/ui/leases', 'Leases'],
      ['/ui/audit', 'Audit devices'],
      ['/ui/snapshots', 'Snapshots'],
      ['/ui/messages', 'Custom messages'],
      ['/ui/replication', 'Replication'],
    ]),
  },
];

/** The product whose pages the one at an address is among. */
export const productAt = (path: string): ScreenGroup['title'] => {
  if (path.startsWith('/app')) return 'Workspaces';
  return path.startsWith('/ui/certificates') ? 'Certificates' : 'Cluster';
};

/** Kind of token that the page requires; undefined when either will do. */
export const tokenNeededBy = (path: string): TokenKind | undefined => {
  if (path.startsWith('/app')) return 'workspaces';
  return path === '/ui/' ? undefined : 'secrets';
};
