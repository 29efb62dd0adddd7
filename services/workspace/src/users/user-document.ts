import { API_PREFIX, type Resource, toOne } from '@keelson/jsonapi';
import type { Account } from './user-operations.ts';
import type { User } from './user-records.ts';

/** A user; the mail address is shown to the user itself only. */
export const toUserResource = (user: User, isSelf: boolean): Resource => ({
  id: user.id,
  type: 'users',
  attributes: {
    username: user.username,
    'is-service-account': false,
    'auth-method': 'password',
    'avatar-url': null,
    'v2-only': true,
    'is-site-admin': user.isSiteAdmin,
    'is-sso-login': false,
    'two-factor': { enabled: false, verified: false },
    permissions: {
      'can-create-organizations': user.isSiteAdmin,
      'can-change-email': isSelf,
      'can-change-username': isSelf,
      'can-view-settings': isSelf,
    },
    ...(isSelf ? { email: user.email, 'unconfirmed-email': null } : {}),
  },
  links: { self: `${API_PREFIX}/users/${user.id}` },
});

/** The synthetic user that a team or organization token acts as. */
const toServiceUserResource = (id: string, username: string): Resource => ({
  id,
  type: 'users',
  attributes: {
    username,
    'is-service-account': true,
    'auth-method': 'token',
    'avatar-url': null,
    'v2-only': true,
    'is-site-admin': false,
    'is-sso-login': false,
    permissions: { 'can-create-organizations': false },
  },
  links: { self: `${API_PREFIX}/users/${id}` },
});

/** The user of a token, related to what the token was made for. */
export const toAccountResource = (account: Account): Resource => {
  const related = (id: string, type: string) => ({
    relationships: { 'authenticated-resource': toOne(type, id) },
  });
  switch (account.kind) {
    case 'user':
      return { ...toUserResource(account.user, true), ...related(account.user.id, 'users') };
    case 'team': {
      const { id, name, serviceUserId } = account.team;
      return {
        ...toServiceUserResource(serviceUserId, `api-team_${name}`),
        ...related(id, 'teams'),
      };
    }
    case 'organization': {
      const { id, name } = account.organization;
      // The same random part under another prefix: stable, and never a person's.
      const userId = id.replace('org-', 'user-');
      return {
        ...toServiceUserResource(userId, `api-org-${name}`),
        ...related(name, 'organizations'),
      };
    }
  }
};
