import {
  API_PREFIX,
  choice,
  optionalRelationship,
  orNull,
  type ResourceOf,
  relatedMany,
  relatedOne,
  resourceSchema,
  timestamp,
  toMany,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { User } from '../model/user-records.ts';
import type { OwnPermissions } from './own-permissions.ts';
import type { Account } from './user-operations.ts';

const ofOwn = Type.Optional(Type.Boolean({ description: 'Not for the user of a token.' }));

/** A permission of the own account. @param description says who has it */
const ownChange = (description: string) => Type.Optional(Type.Boolean({ description }));

export const USER = resourceSchema({
  type: 'users',
  description: 'A person, or the synthetic user that a team or organization token stands for.',
  attributes: {
    username: Type.String(),
    'is-service-account': Type.Boolean(),
    'auth-method': choice(['token']),
    'avatar-url': orNull(Type.String()),
    'v2-only': Type.Boolean(),
    'is-site-admin': Type.Boolean(),
    'is-sso-login': Type.Boolean(),
    email: Type.Optional(
      Type.String({
        format: 'email',
        description:
          'Shown to the user, to site administrators, and where a membership includes the user.',
      }),
    ),
    'unconfirmed-email': Type.Optional(
      orNull(
        Type.String({
          format: 'email',
          description: 'The address that the user has given instead, until it is confirmed.',
        }),
      ),
    ),
    'is-admin': Type.Optional(
      Type.Boolean({ description: 'As `is-site-admin`; shown to site administrators.' }),
    ),
    'is-suspended': Type.Optional(
      Type.Boolean({
        description: 'Whether every token is refused; shown to site administrators.',
      }),
    ),
    'created-at': Type.Optional(timestamp('Shown to site administrators.')),
    'two-factor': Type.Optional(Type.Object({ enabled: Type.Boolean(), verified: Type.Boolean() })),
    permissions: Type.Object({
      'can-create-organizations': Type.Boolean(),
      'can-change-email': ownChange(
        'For a user who has signed in, and with every token where nobody signs in.',
      ),
      'can-change-username': ofOwn,
      'can-change-password': ownChange('For a user who has a password, where passwords are on.'),
      'can-change-two-factor': ownChange('For a user who has signed in and has a password.'),
      'can-change-passkeys': ownChange('For a user who has signed in.'),
      'can-view-settings': ofOwn,
    }),
  },
  relationships: {
    'authenticated-resource': optionalRelationship(relatedOne(['users', 'teams', 'organizations'])),
    organizations: optionalRelationship(relatedMany('organizations')),
  },
  links: ['self'],
});

/** A user document. @param own for the user itself, who also sees the address; undefined for others */
export const toUserResource = (user: User, own?: OwnPermissions): ResourceOf<typeof USER> => ({
  id: user.id,
  type: 'users',
  attributes: {
    username: user.username,
    'is-service-account': false,
    'auth-method': 'token',
    'avatar-url': null,
    'v2-only': true,
    'is-site-admin': user.isSiteAdmin,
    'is-sso-login': user.hasSingleSignOn === true,
    'two-factor': {
      enabled: user.hasSecondFactor === true,
      verified: user.hasSecondFactor === true,
    },
    permissions: {
      'can-create-organizations': user.isSiteAdmin,
      'can-change-email': own?.canChangeEmail ?? false,
      'can-change-username': own !== undefined,
      'can-change-password': own?.canChangePassword ?? false,
      'can-change-two-factor': own?.canChangeTwoFactor ?? false,
      'can-change-passkeys': own?.canChangePasskeys ?? false,
      'can-view-settings': own !== undefined,
    },
    ...(own !== undefined && {
      email: user.email,
      'unconfirmed-email': user.unconfirmedEmail?.address ?? null,
    }),
  },
  links: { self: `${API_PREFIX}/users/${user.id}` },
});

/** A user as site administrators see it. @param organizations names of those with a membership */
export const toManagedUserResource = (
  user: User,
  organizations: readonly string[],
): ResourceOf<typeof USER> => {
  const resource = toUserResource(user);
  return {
    ...resource,
    attributes: {
      ...resource.attributes,
      email: user.email,
      'unconfirmed-email': user.unconfirmedEmail?.address ?? null,
      'is-admin': user.isSiteAdmin,
      'is-suspended': user.isSuspended === true,
      'created-at': toTimestamp(user.createdAtMs),
    },
    relationships: { organizations: toMany('organizations', organizations) },
  };
};

/** The synthetic user that represents a team or organization token. */
const toServiceUserResource = (id: string, username: string): ResourceOf<typeof USER> => ({
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

/** The user of a token, with a relationship to the token's owner. */
export const toAccountResource = (account: Account): ResourceOf<typeof USER> => {
  const related = (id: string, type: string) => ({
    relationships: { 'authenticated-resource': toOne(type, id) },
  });
  switch (account.kind) {
    case 'user':
      return { ...toUserResource(account.user, account.own), ...related(account.user.id, 'users') };
    case 'team': {
      const { id, name, serviceUserId } = account.team;
      return {
        ...toServiceUserResource(serviceUserId, `api-team_${name}`),
        ...related(id, 'teams'),
      };
    }
    case 'organization': {
      const { id, name } = account.organization;
      // The same random part under another prefix: a stable id that no person has.
      const userId = id.replace('org-', 'user-');
      return {
        ...toServiceUserResource(userId, `api-org-${name}`),
        ...related(name, 'organizations'),
      };
    }
  }
};
