/** The table of accepted fields, continued: sign-ins, passwords and the second factor. */
import { elsewhere, type FieldGroup } from './field-effects.ts';

const ADDRESS_TEST = 'src/identity/accounts/address-change.integration.test.ts';
const SESSIONS_TEST = 'src/identity/sessions/sessions.integration.test.ts';
const PASSKEYS_TEST = 'src/identity/passkeys/passkeys.integration.test.ts';
const PASSWORDS_TEST = 'src/identity/passwords/passwords.integration.test.ts';
const SSO_TEST = 'src/identity/single-sign-on/single-sign-on.integration.test.ts';
const LIFETIMES_TEST = 'src/identity/token-lifetimes/token-lifetimes.integration.test.ts';
const TWO_FACTOR_TEST = 'src/identity/two-factor/two-factor.integration.test.ts';

const COMMON = ['id', 'rawId', 'response/clientDataJSON'];
const NEW_CREDENTIAL = [...COMMON, 'response/attestationObject', 'response/transports'];
const SIGNATURE = [
  ...COMMON,
  'response/authenticatorData',
  'response/signature',
  'response/userHandle',
];

/** Parts of what a browser has answered, which the library of passkeys tries one by one. */
const inBrowsersAnswer = (field: string, parts: readonly string[]): FieldGroup['fields'] =>
  Object.fromEntries(
    parts.map((part) => [
      `${field}/${part}`,
      elsewhere('../../libs/passkeys/src/verification.test.ts', part.split('/').at(-1) ?? part),
    ]),
  );

export const SIGN_IN_FIELD_GROUPS: Readonly<Record<string, FieldGroup>> = {
  'sign-ins': {
    routes: ['POST /sessions'],
    fields: {
      login: elsewhere(SESSIONS_TEST, 'login of'),
      password: elsewhere(SESSIONS_TEST, 'with the password'),
      passcode: elsewhere(TWO_FACTOR_TEST),
      'recovery-code': elsewhere(TWO_FACTOR_TEST),
    },
  },
  'changes of passwords': {
    routes: ['PATCH /account/password'],
    fields: {
      current_password: elsewhere(PASSWORDS_TEST),
      password: elsewhere(PASSWORDS_TEST),
      password_confirmation: elsewhere(PASSWORDS_TEST),
    },
  },
  'passwords by links': {
    routes: [
      'POST /password-resets',
      'POST /password-reset/actions/set-password',
      'POST /invitation/actions/set-password',
    ],
    fields: {
      email: elsewhere('test/password-accounts.ts'),
      password: elsewhere('test/password-accounts.ts'),
      'removes-passkeys': elsewhere(PASSKEYS_TEST),
    },
  },
  'two-factor authentication': {
    routes: [
      'POST /account/two-factor',
      ...['verify', 'renew-recovery-codes', 'disable'].map(
        (action) => `POST /account/two-factor/actions/${action}`,
      ),
    ],
    fields: {
      'current-password': elsewhere(TWO_FACTOR_TEST),
      passcode: elsewhere(TWO_FACTOR_TEST),
      'recovery-code': elsewhere(TWO_FACTOR_TEST),
    },
  },
  'sign-ins at the provider': {
    routes: ['POST /sso-logins', 'POST /sso-logins/actions/finish'],
    fields: {
      'client-nonce': elsewhere(SSO_TEST),
      state: elsewhere(SSO_TEST),
      code: elsewhere(SSO_TEST),
      iss: elsewhere('test/openid-provider.ts'),
    },
  },
  'settings of the provider': {
    routes: ['PATCH /admin/sso-settings'],
    fields: {
      enabled: elsewhere(SSO_TEST),
      title: elsewhere(SSO_TEST),
      issuer: elsewhere(SSO_TEST),
      'client-id': elsewhere(SSO_TEST),
      'client-secret': elsewhere(SSO_TEST),
      'ca-certificates': elsewhere(SSO_TEST),
      scopes: elsewhere(SSO_TEST),
      'username-claim': elsewhere(SSO_TEST),
      'groups-claim': elsewhere(SSO_TEST),
      'creates-users': elsewhere(SSO_TEST),
      'links-users': elsewhere(SSO_TEST),
      'joins-organizations': elsewhere(SSO_TEST),
      'two-factor': elsewhere(SSO_TEST),
    },
  },
  'lifetimes of tokens': {
    routes: ['PATCH /organizations/{organization_name}/token-ttl-policies'],
    fields: {
      'token-ttl-policies/token-type': elsewhere(LIFETIMES_TEST),
      'token-ttl-policies/max-ttl-ms': elsewhere(LIFETIMES_TEST),
    },
  },
  'changes of the own account': {
    routes: ['PATCH /account/update'],
    fields: {
      username: elsewhere('src/identity/users/users.integration.test.ts'),
      email: elsewhere(ADDRESS_TEST),
      'current-password': elsewhere(ADDRESS_TEST),
      ...inBrowsersAnswer('confirmation', SIGNATURE),
    },
  },
  passkeys: {
    routes: [
      'POST /account/passkeys',
      'PATCH /account/passkeys/{passkey_id}',
      'POST /invitation/actions/add-passkey',
      'POST /passkey-challenges/actions/sign-in',
    ],
    fields: {
      name: elsewhere(PASSKEYS_TEST),
      ...inBrowsersAnswer('credential', [...NEW_CREDENTIAL, ...SIGNATURE]),
      ...inBrowsersAnswer('confirmation', SIGNATURE),
      'current-password': elsewhere(PASSKEYS_TEST),
    },
  },
  'settings of signing in': {
    routes: ['PATCH /admin/sign-in-settings'],
    fields: {
      'passwords-enabled': elsewhere(SESSIONS_TEST),
      'passkeys-enabled': elsewhere(PASSKEYS_TEST),
      'session-minutes': elsewhere(SESSIONS_TEST),
    },
  },
};
