/**
 * Every request of the console that changes something belongs to a form that edits, which `edits.browser.test.ts` and
 * its like open and save, or creates or does something.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = join(import.meta.dirname, '..', 'src', 'browser');

const filesIn = (folder: string, pattern: string): ReadonlyMap<string, string> =>
  new Map(
    globSync(pattern, { cwd: folder })
      .map((file) => [file, readFileSync(join(folder, file), 'utf8')] as const)
      .toSorted(([a], [b]) => a.localeCompare(b)),
  );

const sources = filesIn(SOURCE, '**/*.{ts,tsx}');

const found = (files: Iterable<string>, pattern: RegExp): ReadonlySet<string> =>
  new Set([...files].flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name)));

test('every form that edits is opened and saved by a test, with a change by somebody else', () => {
  const forms = found(sources.values(), /\bedits="([^"]+)"/g);
  const walked = found(
    filesIn(import.meta.dirname, '*.browser.test.ts').values(),
    /\bform: '([^']+)'/g,
  );
  expect(forms.size).toBeGreaterThan(10);
  expect([...walked].toSorted()).toEqual([...forms].toSorted());
});

test('every use of the form has a name of its own', () => {
  const uses = [...sources.values()].flatMap((text) => [
    ...text.matchAll(/<Edit(?:Button|Form)\b(?!\s*\{\.\.\.)/g),
  ]);
  const names = [...sources.values()].flatMap((text) => [...text.matchAll(/\bedits="/g)]);
  expect(names).toHaveLength(uses.length);
});

/** The requests of other forms and buttons, by file, with what each creates or does. */
const DEEDS: Readonly<Record<string, readonly string[]>> = {
  'account/mail-address-card.tsx': ['asks for a passkey', 'asks for another address'],
  'account/passkeys-card.tsx': ['begins to add a passkey', 'adds it', 'renames one'],
  'account/password-card.tsx': ['changes the password'],
  'account/two-factor-card.tsx': [
    'posts an action',
    'sets up the second factor',
    'verifies a first passcode',
    'renews the recovery codes',
    'turns it off',
  ],
  'agents/agent-pools-page.tsx': ['creates a pool'],
  'app/action-sources.ts': ['asks for capabilities'],
  'audit/audit-page.tsx': ['adds a device'],
  'certificates/acme-accounts-card.tsx': ['closes an account or opens it again'],
  'certificates/addresses-card.tsx': [
    'replaces the addresses by those of this server, naming what it replaces',
  ],
  'certificates/bulk-revocation.tsx': ['revokes one of several'],
  'certificates/certificate-page.tsx': ['revokes'],
  'certificates/certify/certification.ts': [
    'requests a certificate for a key',
    'signs it',
    'imports it',
  ],
  'certificates/certify/outside-signer.tsx': ['imports what another authority has signed'],
  'certificates/create-authority.tsx': ['mounts an authority', 'creates its root'],
  'certificates/eab-card.tsx': ['creates a key'],
  'certificates/issue-form.tsx': ['issues or signs'],
  'certificates/issuer/end-issuer.tsx': ['revokes an issuer'],
  'certificates/issuer/make-default.tsx': ['makes an issuer the default'],
  'certificates/issuer/sign-authority.tsx': ['signs an authority elsewhere'],
  'certificates/keys/keys-tab.tsx': ['makes a key the default'],
  'certificates/keys/new-key.tsx': ['generates a key', 'imports one'],
  'certificates/roles-tab.tsx': ['creates a role'],
  'certificates/rotation.tsx': [
    'creates a root',
    'creates the key of an intermediate',
    'stops issuing by an issuer',
  ],
  'certificates/settings-tab.tsx': ['takes the steps that switch ACME on or off'],
  'certificates/tidy-card.tsx': ['tidies'],
  'components/api-tokens.tsx': ['creates a token'],
  'leases/leases-page.tsx': ['reads a lease', 'ends a lease'],
  'messages/message-form.tsx': ['creates a message'],
  'namespaces/namespaces-page.tsx': ['creates a namespace'],
  'notifications/notifications-card.tsx': [
    'verifies a destination',
    'enables or disables a notification',
    'creates a notification',
  ],
  'organizations/api-tokens-page.tsx': ['creates a token'],
  'organizations/organization-page.tsx': ['stores the lifetimes of the form'],
  'organizations/organization-tokens.tsx': ['creates a token, in place of the one before'],
  'organizations/organizations-page.tsx': ['creates an organization'],
  'organizations/site-switches.tsx': ['switches an organization, a pool or a connection off or on'],
  'overview/overview-page.tsx': ['seals'],
  'overview/workspace-steps.tsx': ['creates the first organization', 'creates a workspace'],
  'passkeys/passkeys-page.tsx': ['begins a change', 'adds a passkey', 'removes one', 'renames one'],
  'policies/policies-page.tsx': ['creates a policy'],
  'policies/policy-tester.tsx': ['reads a token', 'asks for capabilities'],
  'projects/projects-page.tsx': ['creates a project'],
  'replication/operation-token.tsx': [
    'starts a ceremony',
    'gives a share',
    'revokes an operation token',
  ],
  'replication/primary-actions.tsx': [
    'enables a primary',
    'creates a token for a secondary',
    'revokes a secondary',
  ],
  'replication/promotion.tsx': ['asks what a promotion would lose', 'promotes'],
  'replication/role-change.tsx': [
    'posts an action of replication',
    'changes the role of the cluster',
  ],
  'replication/secondary-actions.tsx': [
    'follows a primary',
    'follows another primary',
    'leaves the set',
  ],
  'runs/run-actions.tsx': ['confirms, discards or cancels a run'],
  'runs/run-history.tsx': ['adds a comment'],
  'second-factors/enforcements.tsx': ['adds an enforcement'],
  'second-factors/lost-factor.tsx': ['finds a person', 'removes what the person has'],
  'second-factors/methods.tsx': ['adds a method'],
  'session/account-passkey.ts': [
    'begins to sign in',
    'signs in',
    'begins to accept an invitation',
    'accepts it',
  ],
  'session/account-sign-in.ts': ['signs in'],
  'session/command-login-page.tsx': ['approves or refuses the login of a command'],
  'session/confirm-email-page.tsx': ['confirms an address'],
  'session/init-wizard.tsx': ['initializes'],
  'session/invitation-page.tsx': ['accepts an invitation with a password', 'accepts an invitation'],
  'session/new-password-page.tsx': ['asks for a link', 'sets a password'],
  'session/sign-in-methods.ts': [
    'finish a login with second factors',
    'signs in with a password',
    'begins a login at a provider',
    'signs in with a certificate',
  ],
  'session/sign-out.ts': ['revokes the token of a login'],
  'session/single-sign-on.ts': ['begins a sign-in at the provider', 'ends it'],
  'session/unseal-form.tsx': ['gives a key share'],
  'site/people-page.tsx': ['adds a person'],
  'site/person-actions.tsx': ['suspends, helps or promotes a person'],
  'snapshots/snapshots-page.tsx': ['restores a snapshot'],
  'teams/members-card.tsx': ['invites'],
  'teams/team-page.tsx': ['adds a member'],
  'teams/teams-page.tsx': ['creates a team'],
  'tokens/end-logins.tsx': ['ends the tokens of a person'],
  'tokens/own-tokens-card.tsx': ['ends a token of the person', 'ends all others'],
  'tokens/tokens-page.tsx': ['reads a token', 'revokes a token', 'creates a token'],
  'variable-sets/variable-sets-page.tsx': ['applies a set to a workspace', 'creates a set'],
  'variables/variable-list.tsx': ['creates a variable'],
  'version-control/oauth-client-page.tsx': ['begins an authorization', 'completes it'],
  'version-control/oauth-clients-page.tsx': ['connects a provider'],
  'workspaces/bulk-actions.tsx': [
    'locks, unlocks, tags or moves one of several, or starts its run',
  ],
  'workspaces/first-steps.tsx': ['announces a configuration, which is then uploaded'],
  'workspaces/lock-card.tsx': ['locks or unlocks'],
  'workspaces/repository-card.tsx': ['disconnects a repository'],
  'workspaces/settings-tab.tsx': ['deletes a workspace safely'],
  'workspaces/sharing-cards.tsx': ['adds a consumer', 'adds a tag', 'adds a run trigger'],
  'workspaces/start-run.tsx': ['starts a run'],
  'workspaces/state-table.tsx': ['rolls back to a state'],
  'workspaces/team-access-card.tsx': ['gives a team access'],
  'workspaces/workspaces-page.tsx': ['creates a workspace'],
};

test('every other request that changes something creates or does something', () => {
  const requests = Object.fromEntries(
    [...sources].flatMap(([file, text]) => {
      const count = [
        ...text.matchAll(
          /\b(?:callSecrets|callWorkspaces|sendSecrets)(?:<(?:[^()]|\(\))*?>)?\(\s*(?:'(?:POST|PUT|PATCH)'|[a-z]\w* \?|method\b)|\bpost\(/g,
        ),
      ].length;
      return count === 0 || file.startsWith('editing/') || file.startsWith('api/')
        ? []
        : [[file, count]];
    }),
  );
  expect(requests).toEqual(
    Object.fromEntries(Object.entries(DEEDS).map(([file, deeds]) => [file, deeds.length])),
  );
});
