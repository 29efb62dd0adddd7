/** The credentials of users other than tokens, and the site's rules for them. */
import { LOCKOUT_UPGRADES, lockoutShape, passcodeUseShape } from '@keelson/credentials';
import { collection, type Reads } from '@keelson/storage';
import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import type { SignInMarks, SignInWays } from './domain/session-life.ts';
import {
  DEFAULT_SIGN_IN_SETTINGS,
  type SignInSettings,
  signInSettingsShape,
} from './domain/sign-in-settings.ts';
import { type SsoSettings, ssoSettingsShape } from './domain/sso-settings.ts';
import { waitingMailShape } from './waiting-mail.ts';

const OF_USER = { kind: 'user', by: '*' } as const;

/** Keyed by `user-…`. A user without one has no password. */
export const passwordRecords = collection('passwords', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({
    /** Argon2id, as a PHC string. */
    hash: Type.String(),
    changedAtMs: Type.Number(),
  }),
  owner: OF_USER,
});

/**
 * Digest of a mail address, as the index of users has it -> the mail with a link for a new password. Whether a user has
 * the address is found when the mail is sent, so that no answer depends on it.
 */
export const passwordMails = collection('password-mails', {
  scope: 'shared',
  version: 1,
  shape: waitingMailShape,
});

/** By the digest of the name or address with which somebody signs in. Each cluster counts for itself. */
export const signInLockouts = collection('sign-in-lockouts', {
  scope: 'local',
  version: 2,
  upgrades: LOCKOUT_UPGRADES,
  shape: lockoutShape,
});

export const secondFactorShape = Type.Object({
  /** Base32 (RFC 4648 §6). */
  key: Type.String(),
  /** Digests of the recovery codes that are left. */
  recoveryHashes: Type.Array(Type.String()),
  /** Null until a passcode has proved that the authenticator app has the key. */
  verifiedAtMs: nullable(Type.Number()),
});
export type SecondFactor = Shaped<typeof secondFactorShape>;

/** Keyed by `user-…`. */
export const secondFactors = collection('second-factors', {
  scope: 'shared',
  version: 1,
  shape: secondFactorShape,
  owner: OF_USER,
});

/** Keyed by `user-…`. Each cluster counts for itself. */
export const passcodeUses = collection('passcode-uses', {
  scope: 'local',
  version: 1,
  shape: passcodeUseShape,
  owner: OF_USER,
});

/** The site's provider of identities. The one record has the key `site`. */
export const ssoSettings = collection('sso-settings', {
  scope: 'shared',
  shape: ssoSettingsShape,
  version: 2,
  upgrades: {
    2: {
      up: (settings) => settings,
      down: (settings) => {
        const { generation: _, joinsOrganizations: __, ...older } = settings;
        return older;
      },
    },
  },
});

/** Digest of issuer and subject -> the user of that person. */
export const ssoIdentities = collection('sso-identities', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ userId: Type.String(), issuer: Type.String(), subject: Type.String() }),
  owner: [{ kind: 'user', by: 'userId' }],
  index: ['userId'],
});

/** Digest of a sign-in that has ended -> when it would have expired. */
export const usedSsoStates = collection('used-sso-states', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ expiresAtMs: Type.Number() }),
});

/** The one record has the key `site`. */
export const signInSettings = collection('sign-in-settings', {
  scope: 'shared',
  shape: signInSettingsShape,
  version: 2,
  upgrades: {
    2: {
      up: (settings) => settings,
      down: (settings) => {
        const { passwordGeneration: _, passkeyGeneration: __, ...older } = settings;
        return older;
      },
    },
  },
});
export const SITE_KEY = 'site';

/** Undefined on a site that has never had any. */
export const findSsoSettings = (reads: Reads): Promise<SsoSettings | undefined> =>
  ssoSettings.find(reads, SITE_KEY);

/** How people sign in to this site at this moment. */
export const findSignInWays = async (reads: Reads): Promise<SignInWays> => {
  const [settings, sso] = await Promise.all([findSignInSettings(reads), findSsoSettings(reads)]);
  return { settings, sso };
};

/** The same, as far as it decides about one session or link: a record that is damaged ends no others. */
export const findSignInWaysOf = async (
  reads: Reads,
  { isSingleSignOn }: SignInMarks,
): Promise<SignInWays> => ({
  settings: await findSignInSettings(reads),
  sso: isSingleSignOn === true ? await findSsoSettings(reads) : undefined,
});

/** Whether people sign in to this site without a token that somebody gave them. */
export const hasSignIn = async (reads: Reads): Promise<boolean> => {
  const { settings, sso } = await findSignInWays(reads);
  return settings.passwordsEnabled || settings.passkeysEnabled || sso?.enabled === true;
};

export const findSignInSettings = async (reads: Reads): Promise<SignInSettings> =>
  (await signInSettings.find(reads, SITE_KEY)) ?? DEFAULT_SIGN_IN_SETTINGS;
