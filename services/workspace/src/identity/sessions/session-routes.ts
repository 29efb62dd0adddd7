/** Routes by which people sign in, see where they are signed in, and sign out. */
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
import { Type } from 'typebox';
import { PASSWORD } from '../passwords/password-routes.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { findLastUse } from '../tokens/token-use-operations.ts';
import { FACTOR, factorIn } from '../two-factor/two-factor-routes.ts';
import { toSessionResource } from './session-document.ts';
import { endOwnSession, endOwnSessions, listOwnSessions } from './session-list-operations.ts';
import { createSignIn } from './sign-in-operations.ts';

const SIGN_IN = resourceBody(
  'sessions',
  Type.Object({
    login: Type.String({ maxLength: 255, description: 'User name or mail address.' }),
    password: PASSWORD,
    ...FACTOR,
  }),
);

export const sessionRoutes = (context: IdentityContext): Route[] =>
  jsonApiRoutes('sign-in', [
    endpoint({
      method: 'GET',
      path: '/account/sessions',
      summary: "List the caller's own sessions",
      answers: pageOf('sessions'),
      handle: async ({ head, principal, query }) => {
        const page = parsePage(query);
        const all = await listOwnSessions(context, principal);
        const data = await Promise.all(
          itemsOn(page, all).map(async (token) =>
            toSessionResource(token, {
              lastUsedAtMs: await findLastUse(context.store, token.id),
              isCurrent: token.id === principal.tokenId,
            }),
          ),
        );
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/account/sessions/:session_id',
      summary: "End one of the caller's own sessions",
      success: 204,
      handle: async ({ principal, params }) => {
        await endOwnSession(context, principal, params.session_id);
        return undefined;
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/account/sessions',
      summary: 'Sign out everywhere: end all sessions of the caller',
      success: 204,
      handle: async ({ principal }) => {
        await endOwnSessions(context, principal);
        return undefined;
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/account/session',
      summary: 'Sign out: end the session of the request',
      success: 204,
      handle: async ({ principal }) => {
        await endOwnSession(context, principal, principal.tokenId);
        return undefined;
      },
    }),
  ]);

/** For everybody who has a password. */
export const signInRoutes = (context: IdentityContext): Route[] => {
  const signIn = createSignIn(context);
  return jsonApiRoutes('sign-in', [
    openEndpoint({
      method: 'POST',
      path: '/sessions',
      summary: 'Sign in, with a passcode too where the account has two-factor authentication',
      answers: one('sessions'),
      body: { schema: SIGN_IN },
      success: 201,
      handle: async ({ head, body }) => {
        const { login, password, ...given } = body.data.attributes;
        const { token, text } = await signIn({
          login,
          password,
          ...factorIn(given),
          userAgent: head.headers['user-agent'] ?? '',
        });
        return { document: { data: toSessionResource(token, { text, isCurrent: true }) } };
      },
    }),
  ]);
};
