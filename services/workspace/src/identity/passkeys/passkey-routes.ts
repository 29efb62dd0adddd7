/** Routes of passkeys: the caller's own ones, and the sign-in with them. */
import type { Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  one,
  openEndpoint,
  pageOf,
  parsePage,
  resourceBody,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import { assertionSchema, registrationSchema } from '@keelson/passkeys';
import { Type } from 'typebox';
import { PASSWORD } from '../passwords/password-routes.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { toSessionResource } from '../sessions/session-document.ts';
import {
  addPasskey,
  beginChange,
  beginPasskey,
  listPasskeys,
  removePasskey,
  renamePasskey,
} from './passkey-account-operations.ts';
import { toChallengeResource, toPasskeyResource } from './passkey-document.ts';
import { beginSignIn } from './passkey-operations.ts';
import { createPasskeySignIn } from './passkey-sign-in-operations.ts';

const TAG = 'sign-in';
const PATH = '/account/passkeys';
const ONE = `${PATH}/:passkey_id` as const;

const name = Type.String({ minLength: 1, maxLength: 100 });

/** A new passkey in a request. */
export const NEW_PASSKEY = { name, credential: registrationSchema };

const ADD = resourceBody(
  'passkeys',
  Type.Object({
    ...NEW_PASSKEY,
    'current-password': Type.Optional(PASSWORD),
    confirmation: Type.Optional(assertionSchema),
  }),
);
const RENAME = resourceBody('passkeys', Type.Object({ name }));
const SIGN_IN = resourceBody('passkey-challenges', Type.Object({ credential: assertionSchema }));

export const passkeyRoutes = (context: IdentityContext): Route[] =>
  jsonApiRoutes(TAG, [
    endpoint({
      method: 'GET',
      path: PATH,
      summary: "List the caller's own passkeys",
      answers: pageOf('passkeys'),
      handle: async ({ head, principal, query }) => {
        const page = parsePage(query);
        const all = await listPasskeys(context, principal);
        const data = itemsOn(page, all).map(toPasskeyResource);
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/actions/begin`,
      summary: 'Begin to add a passkey, which gives the questions for the browser',
      answers: one('passkey-challenges'),
      handle: async ({ principal }) => ({
        document: { data: toChallengeResource(await beginPasskey(context, principal)) },
      }),
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/actions/confirm`,
      summary:
        'Begin to confirm a change of the account, which gives the question for a passkey that it has; null where the password confirms it',
      answers: one('passkey-challenges'),
      handle: async ({ principal }) => ({
        document: {
          data: toChallengeResource({ confirmation: await beginChange(context, principal) }),
        },
      }),
    }),
    endpoint({
      method: 'POST',
      path: PATH,
      summary: 'Add a passkey, with the password or another passkey if the account has one',
      answers: one('passkeys'),
      body: { schema: ADD },
      success: 201,
      handle: async ({ principal, body }) => {
        const { 'current-password': password, ...given } = body.data.attributes;
        const added = { ...given, confirmation: given.confirmation, password };
        return {
          document: { data: toPasskeyResource(await addPasskey(context, principal, added)) },
        };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: ONE,
      summary: "Rename one of the caller's own passkeys",
      answers: one('passkeys'),
      body: { schema: RENAME },
      handle: async ({ principal, params, body }) => {
        const { name: next } = body.data.attributes;
        const renamed = await renamePasskey(context, principal, params.passkey_id, next);
        return { document: { data: toPasskeyResource(renamed) } };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: ONE,
      summary: "Remove one of the caller's own passkeys, unless it is the last way in",
      success: 204,
      handle: async ({ principal, params }) => {
        await removePasskey(context, principal, params.passkey_id);
        return undefined;
      },
    }),
  ]);

/** For everybody who has a passkey. */
export const openPasskeyRoutes = (context: IdentityContext): Route[] => {
  const signIn = createPasskeySignIn(context);
  return jsonApiRoutes(TAG, [
    openEndpoint({
      method: 'POST',
      path: '/passkey-challenges',
      summary: 'Begin to sign in with a passkey, which gives the question for the browser',
      answers: one('passkey-challenges'),
      success: 201,
      handle: async () => ({
        document: { data: toChallengeResource({ confirmation: await beginSignIn(context) }) },
      }),
    }),
    openEndpoint({
      method: 'POST',
      path: '/passkey-challenges/actions/sign-in',
      summary: 'Sign in with a passkey',
      answers: one('sessions'),
      body: { schema: SIGN_IN },
      success: 201,
      handle: async ({ head, body }) => {
        const userAgent = head.headers['user-agent'] ?? '';
        const { token, text } = await signIn(body.data.attributes.credential, userAgent);
        return { document: { data: toSessionResource(token, { text, isCurrent: true }) } };
      },
    }),
  ]);
};
