/** Routes by which people sign in at the site's provider of identities. */
import type { Route } from '@keelson/edge';
import { jsonApiRoutes, newResourceId, one, openEndpoint, resourceBody } from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { IdentityContext } from '../seams/identity-context.ts';
import { toSessionResource } from '../sessions/session-document.ts';
import { toSsoLoginResource } from './sso-login-document.ts';
import { SsoLogins } from './sso-login-operations.ts';

const NONCE = Type.String({
  minLength: 32,
  maxLength: 128,
  description: 'Random, known to this browser alone, and the same at the beginning and the end.',
});

const BEGIN = resourceBody('sso-logins', Type.Object({ 'client-nonce': NONCE }));

const FINISH = resourceBody(
  'sso-logins',
  Type.Object({
    'client-nonce': NONCE,
    state: Type.String({ maxLength: 8192 }),
    code: Type.String({ maxLength: 4096 }),
    iss: Type.Optional(Type.String({ maxLength: 1024, description: 'As RFC 9207 has it.' })),
  }),
);

export const ssoLoginRoutes = (context: IdentityContext): Route[] => {
  const logins = new SsoLogins(context);
  return jsonApiRoutes('sign-in', [
    openEndpoint({
      method: 'POST',
      path: '/sso-logins',
      summary: 'Begin to sign in at the provider of identities',
      answers: one('sso-logins'),
      body: { schema: BEGIN },
      success: 201,
      handle: async ({ body }) => {
        const url = await logins.begin(body.data.attributes['client-nonce']);
        return { document: { data: toSsoLoginResource(newResourceId('sso'), url) } };
      },
    }),
    openEndpoint({
      method: 'POST',
      path: '/sso-logins/actions/finish',
      summary: 'End a sign-in with what the provider has sent by the browser',
      answers: one('sessions'),
      body: { schema: FINISH },
      success: 201,
      handle: async ({ head, body }) => {
        const { state, code, iss = '', 'client-nonce': clientNonce } = body.data.attributes;
        const userAgent = head.headers['user-agent'] ?? '';
        const { token, text } = await logins.finish({ state, code, iss, clientNonce, userAgent });
        return { document: { data: toSessionResource(token, { text, isCurrent: true }) } };
      },
    }),
  ]);
};
