/** Routes of the caller's own second factor. */
import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, one, resourceBody } from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import { PASSWORD } from '../passwords/password-routes.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { toTwoFactorResource } from './two-factor-document.ts';
import {
  beginTwoFactor,
  disableTwoFactor,
  type GivenFactor,
  renewRecoveryCodes,
  showTwoFactor,
  verifyTwoFactor,
} from './two-factor-operations.ts';

const TYPE = 'two-factors';
const PATH = '/account/two-factor';

/** The second factor in a request. */
export const FACTOR = {
  passcode: Type.Optional(Type.String({ maxLength: 16 })),
  'recovery-code': Type.Optional(
    Type.String({ maxLength: 64, description: 'In place of a passcode; each works once.' }),
  ),
};

export const factorIn = (
  given: Static<ReturnType<typeof Type.Object<typeof FACTOR>>>,
): GivenFactor => ({ passcode: given.passcode, recoveryCode: given['recovery-code'] });

const BEGIN = resourceBody(TYPE, Type.Object({ 'current-password': PASSWORD }));
const VERIFY = resourceBody(TYPE, Type.Object({ passcode: Type.String({ maxLength: 16 }) }));
const RENEW = resourceBody(TYPE, Type.Object(FACTOR));
const DISABLE = resourceBody(TYPE, Type.Object({ ...FACTOR, 'current-password': PASSWORD }));

export const twoFactorRoutes = (context: IdentityContext): Route[] =>
  jsonApiRoutes('sign-in', [
    endpoint({
      method: 'GET',
      path: PATH,
      summary: "Show the caller's own two-factor authentication",
      answers: one(TYPE),
      handle: async ({ principal }) => ({
        document: { data: toTwoFactorResource(await showTwoFactor(context.store, principal)) },
      }),
    }),
    endpoint({
      method: 'POST',
      path: PATH,
      summary: 'Begin to set up two-factor authentication, which gives the key for an app',
      answers: one(TYPE),
      body: { schema: BEGIN },
      success: 201,
      handle: async ({ principal, body }) => {
        const password = body.data.attributes['current-password'];
        const { address, ...view } = await beginTwoFactor(context, principal, password);
        return { document: { data: toTwoFactorResource(view, { address }) } };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/actions/verify`,
      summary:
        'Turn two-factor authentication on with a first passcode, which gives recovery codes',
      answers: one(TYPE),
      body: { schema: VERIFY },
      handle: async ({ principal, body }) => {
        const { passcode } = body.data.attributes;
        const { codes, ...view } = await verifyTwoFactor(context, principal, passcode);
        return { document: { data: toTwoFactorResource(view, { codes }) } };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/actions/renew-recovery-codes`,
      summary: 'Replace the recovery codes',
      answers: one(TYPE),
      body: { schema: RENEW },
      handle: async ({ principal, body }) => {
        const given = factorIn(body.data.attributes);
        const { codes, ...view } = await renewRecoveryCodes(context, principal, given);
        return { document: { data: toTwoFactorResource(view, { codes }) } };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/actions/disable`,
      summary: 'Turn two-factor authentication off',
      body: { schema: DISABLE },
      success: 204,
      handle: async ({ principal, body }) => {
        const { 'current-password': password, ...given } = body.data.attributes;
        await disableTwoFactor(context, principal, { ...factorIn(given), password });
        return undefined;
      },
    }),
  ]);
