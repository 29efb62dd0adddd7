/** `userpass`: people sign in with a name and a password. */
import type { Route } from '@keelson/edge';
import { NAME_FIELD, requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { field, secretsRoutes } from '@keelson/secrets-api';
import type { LockoutContext } from '../logins/lockout-operations.ts';
import { answerLogin, type Logins } from '../logins/login-operations.ts';
import { nameListRoutes } from '../logins/name-list-routes.ts';
import {
  changedTokenSettings,
  OLDER_TOKEN_FIELDS,
  olderTokenDocument,
  TOKEN_FIELDS,
  tokenSettingsDocument,
} from '../logins/token-fields.ts';
import type { AuthMethod } from '../method.ts';
import { changeUser, deleteUser, findUser, verifyUser } from './user-operations.ts';
import { userRecords } from './userpass-records.ts';

interface UserPassParts extends LockoutContext {
  readonly logins: Logins;
}

const TAG = 'userpass';
const USER = '/userpass/users/:username';

/** A longer text costs time to hash, and protects nobody better. */
const PASSWORD = {
  description: 'The password.',
  maxLength: 1024,
  check: (password: string) => (password === '' ? 'password cannot be empty' : undefined),
} as const;

const SETTINGS = {
  password: field.string(PASSWORD),
  ...TOKEN_FIELDS,
  ...OLDER_TOKEN_FIELDS,
} as const;

const userRoutes = (parts: UserPassParts): Route[] => [
  ...nameListRoutes({
    path: '/userpass/users',
    tag: TAG,
    summary: 'List users',
    namesAt: (mount) => userRecords(mount).keys(parts.store),
  }),
  ...secretsRoutes({
    path: USER,
    tag: TAG,
    hasSettings: true,
    fields: { username: NAME_FIELD, ...SETTINGS },
    operations: {
      read: {
        summary: 'Read a user',
        handle: async (request) => {
          const user = await findUser(parts.store, requireMount(request), request.fields.username);
          return (
            user && {
              data: { ...tokenSettingsDocument(user.token), ...olderTokenDocument(user.token) },
            }
          );
        },
      },
      update: {
        summary: 'Create a user or change it; parameters that are not given stay as they are',
        handle: async (request) => {
          const { fields } = request;
          await changeUser(parts, requireMount(request), fields.username, {
            password: fields.password,
            settings: (before) => changedTokenSettings(before, fields),
          });
          return undefined;
        },
      },
      delete: {
        summary: 'Delete a user; its tokens can no longer be renewed',
        handle: async (request) => {
          await deleteUser(parts, requireMount(request), request.fields.username);
          return undefined;
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${USER}/password`,
    tag: TAG,
    fields: {
      username: NAME_FIELD,
      password: field.string({ ...PASSWORD, required: 'missing password' }),
    },
    operations: {
      update: {
        summary: 'Change the password of a user',
        handle: async (request) => {
          const { username, password } = request.fields;
          await changeUser(parts, requireMount(request), username, { password, mustExist: true });
          return undefined;
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${USER}/policies`,
    tag: TAG,
    fields: {
      username: NAME_FIELD,
      token_policies: TOKEN_FIELDS.token_policies,
      policies: TOKEN_FIELDS.policies,
    },
    operations: {
      update: {
        summary: 'Change the policies of a user',
        handle: async (request) => {
          const { username, ...given } = request.fields;
          if ((given.token_policies ?? given.policies) === undefined)
            throw new KeelsonError('request.invalid', { text: 'missing token_policies' });
          await changeUser(parts, requireMount(request), username, {
            settings: (before) => changedTokenSettings(before, given),
            mustExist: true,
          });
          return undefined;
        },
      },
    },
  }),
];

const loginRoutes = (parts: UserPassParts): Route[] =>
  secretsRoutes({
    path: '/userpass/login/:username',
    tag: TAG,
    fields: {
      username: NAME_FIELD,
      password: field.string({
        description: PASSWORD.description,
        required: 'missing password',
        maxLength: PASSWORD.maxLength,
      }),
    },
    operations: {
      update: {
        summary: 'Sign in',
        handle: async (request) => {
          const { username, password } = request.fields;
          const found = await verifyUser(parts, requireMount(request), username, {
            password,
            address: request.head.remoteAddress,
          });
          if (found === undefined)
            throw new KeelsonError('request.invalid', { text: 'invalid username or password' });
          return answerLogin(parts.logins, request, {
            displayName: found.name,
            metadata: { username: found.name },
            alias: { name: found.name, metadata: {}, groups: [] },
            settings: found.user.token,
            username: found.name,
            data: { user: found.name },
          });
        },
      },
    },
  });

export const userpassMethod = (parts: UserPassParts): AuthMethod => ({
  type: 'userpass',
  unauthenticatedPaths: ['login/*'],
  routes: [...loginRoutes(parts), ...userRoutes(parts)],
  renew: async (mount, { user: name }) => {
    const user = typeof name === 'string' ? await findUser(parts.store, mount, name) : undefined;
    return user && { settings: user.token };
  },
});
