/** The ways of operations on login MFA. */
import { type Place, post, type Way } from './parameters-alone-way.ts';

const METHODS = 'identity/mfa/method/totp';

const newMethod = async (place: Place, serial: string) => {
  const { data } = await post(place, METHODS, { issuer: 'Keelson', method_name: serial });
  const { data: entity } = await post(place, 'identity/entity', { name: serial });
  return { method: data.method_id, entity: entity.id };
};

const ORIGIN = 'https://keelson.example';

const newPasskeyMethod = async (place: Place, serial: string) => {
  const body = { relying_party_origins: ORIGIN, method_name: serial };
  const { data } = await post(place, 'identity/mfa/method/webauthn', body);
  return { method: data.method_id };
};

const readMethod: NonNullable<Way['observe']> = async ({ cluster }, _, answer, { method }) => {
  const id = answer.data?.method_id ?? method;
  const { name, ...data } = (await cluster.asRoot('GET', `identity/mfa/method/${id}`)).body.data;
  return { ...data, isNamed: name !== '' };
};

/** The methods are deleted, because a namespace has not room for all of them. */
const readAndDelete: Way['observe'] = async (place, path, answer, found) => {
  const data = await readMethod(place, path, answer, found);
  for (const id of [answer.data?.method_id, found['method']])
    await place.cluster.asRoot('DELETE', `identity/mfa/method/webauthn/${id}`);
  return data;
};

/** Whether a new key can be made, which needs that there is none. */
const enrolAgain: Way['observe'] = async ({ cluster }, _, __, { method, entity }) => {
  const body = { method_id: method, entity_id: entity };
  const answer = await cluster.asRoot('POST', `${METHODS}/admin-generate`, { body });
  return { isMade: answer.body.data !== null };
};

const SETTINGS = {
  method_name: 'another',
  issuer: 'Another',
  period: 60,
  key_size: 32,
  qr_size: 0,
  algorithm: 'SHA512',
  digits: 8,
  skew: 0,
  max_validation_attempts: 9,
};

export const MFA_WAYS: readonly Way[] = [
  {
    route: /^POST \/identity\/mfa\/method\/totp(?:\/\{method_id\})?$/,
    prepare: newMethod,
    at: (path, { method = '' }) => path.replace('{method_id}', method),
    least: () => ({ issuer: 'Keelson' }),
    values: ({ serial }) => ({ ...SETTINGS, method_name: `${serial}-renamed` }),
    observe: readMethod,
  },
  {
    route: /^POST \/identity\/mfa\/method\/totp\/generate$/,
    without:
      'only whoever has signed in has an entity: services/standalone/test/login-mfa tries it',
  },
  {
    route: /^POST \/identity\/mfa\/method\/totp\/admin-generate$/,
    prepare: newMethod,
    least: ({ method, entity }) => ({ method_id: method, entity_id: entity }),
    values: () => ({ method_id: 'another', entity_id: 'another' }),
    observe: enrolAgain,
  },
  {
    route: /^POST \/identity\/mfa\/method\/totp\/admin-destroy$/,
    prepare: async (place, serial) => {
      const { method, entity } = await newMethod(place, serial);
      await post(place, `${METHODS}/admin-generate`, { method_id: method, entity_id: entity });
      return { method, entity };
    },
    least: ({ method, entity }) => ({ method_id: method, entity_id: entity }),
    values: () => ({ method_id: 'another', entity_id: 'another' }),
    observe: enrolAgain,
  },
  {
    route: /^POST \/identity\/mfa\/method\/webauthn(?:\/\{method_id\})?$/,
    prepare: newPasskeyMethod,
    at: (path, { method = '' }) => path.replace('{method_id}', method),
    least: () => ({ relying_party_origins: ORIGIN }),
    values: ({ serial }) => ({
      method_name: `${serial}-renamed`,
      relying_party_name: 'Another',
      relying_party_id: {
        telling: 'example.com',
        beside: { relying_party_origins: 'https://keelson.example.com' },
      },
      relying_party_origins: 'https://another.example',
      user_verification: 'preferred',
      max_validation_attempts: 9,
    }),
    observe: readAndDelete,
  },
  {
    route: /^POST \/identity\/mfa\/method\/webauthn\/own\/(?:begin|finish|rename|remove)$/,
    without:
      'only whoever has signed in has an entity: services/standalone/test/login-passkeys tries it',
  },
  {
    route: /^POST \/identity\/mfa\/method\/webauthn\/admin-destroy$/,
    without: 'a passkey is needed: services/standalone/test/login-passkeys removes them',
  },
  {
    route: /^POST \/identity\/mfa\/login-enforcement\/\{name\}$/,
    prepare: newMethod,
    at: (path, { serial }) => path.replace('{name}', serial),
    least: ({ method, entity }) => ({ mfa_method_ids: [method], identity_entity_ids: [entity] }),
    values: () => ({
      mfa_method_ids: ['another'],
      auth_method_accessors: ['auth_cert_1'],
      auth_method_types: ['ldap'],
      identity_group_ids: ['group'],
      identity_entity_ids: ['entity'],
    }),
    observe: async ({ cluster }, path) => (await cluster.asRoot('GET', path)).body.data ?? {},
  },
  {
    route: /^POST \/sys\/mfa\/validate$/,
    without: 'no method of logins is served here: services/standalone/test/login-mfa tries them',
  },
];
