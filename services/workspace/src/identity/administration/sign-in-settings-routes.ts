/** Routes by which site administrators say how people sign in. */
import type { Route } from '@keelson/edge';
import { endpoint, jsonApiRoutes, one, refuseInvalid, resourceBody } from '@keelson/jsonapi';
import { newChallengeKey } from '@keelson/passkeys';
import { Type } from 'typebox';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { findSignInSettings, SITE_KEY, signInSettings } from '../model/credential-records.ts';
import { obstacleToPasskeys } from '../passkeys/passkey-operations.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { toSignInSettingsResource } from './sign-in-settings-document.ts';
import { requireSiteAdmin } from './user-administration-operations.ts';

const PATH = '/admin/sign-in-settings';
/** 90 days. */
const LONGEST_MINUTES = 129_600;

const UPDATE = resourceBody(
  'sign-in-settings',
  Type.Object({
    'passwords-enabled': Type.Optional(Type.Boolean()),
    'passkeys-enabled': Type.Optional(Type.Boolean()),
    'session-minutes': Type.Optional(Type.Integer({ minimum: 5, maximum: LONGEST_MINUTES })),
  }),
);

export const signInSettingsRoutes = (context: IdentityContext): Route[] => {
  const { store } = context;
  return jsonApiRoutes('sign-in', [
    endpoint({
      method: 'GET',
      path: PATH,
      summary: 'Show how people sign in (site administrators)',
      answers: one('sign-in-settings'),
      handle: async ({ principal }) => {
        await requireSiteAdmin(store, principal);
        return { document: { data: toSignInSettingsResource(await findSignInSettings(store)) } };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: PATH,
      summary: 'Change how people sign in (site administrators)',
      answers: one('sign-in-settings'),
      body: { schema: UPDATE },
      handle: async ({ principal, body }) => {
        const given = body.data.attributes;
        const challengeKey = newChallengeKey();
        const settings = await store.transact(async (tx) => {
          await requireSiteAdmin(tx, principal);
          const before = await findSignInSettings(tx);
          const passkeysEnabled = given['passkeys-enabled'] ?? before.passkeysEnabled;
          const obstacle = passkeysEnabled ? obstacleToPasskeys(context) : undefined;
          if (obstacle !== undefined)
            refuseInvalid([
              attributeViolation(
                'passkeys-enabled',
                `needs another KEELSON_PUBLIC_URL: ${obstacle}`,
              ),
            ]);
          const passwordsEnabled = given['passwords-enabled'] ?? before.passwordsEnabled;
          const after = {
            ...before,
            ...(passkeysEnabled && { challengeKey }),
            ...(before.challengeKey !== undefined && { challengeKey: before.challengeKey }),
            passwordsEnabled,
            passkeysEnabled,
            ...(before.passwordsEnabled &&
              !passwordsEnabled && {
                passwordGeneration: (before.passwordGeneration ?? 0) + 1,
              }),
            ...(before.passkeysEnabled &&
              !passkeysEnabled && { passkeyGeneration: (before.passkeyGeneration ?? 0) + 1 }),
            sessionMinutes: given['session-minutes'] ?? before.sessionMinutes,
          };
          signInSettings.write(tx, [SITE_KEY], after);
          return after;
        });
        return { document: { data: toSignInSettingsResource(settings) } };
      },
    }),
  ]);
};
