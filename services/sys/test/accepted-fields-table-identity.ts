/** The requests of entities, groups and their aliases: a part of the table in `accepted-fields-table.ts`. */
import { elsewhere, type FieldGroup, proof, RETURNED_ONLY, shown } from './field-effects.ts';

const ENTITIES = 'src/identity/entities.integration.test.ts';
const MERGE = 'src/identity/merge.integration.test.ts';
const GROUPS = 'src/identity/groups.integration.test.ts';
const MFA = 'services/standalone/test/login-mfa.integration.test.ts';
const PASSKEYS = 'services/standalone/test/login-passkeys.integration.test.ts';

export const IDENTITY_FIELDS: Readonly<Record<string, FieldGroup>> = {
  entities: {
    routes: ['', '/id/{id}', '/name/{name}'].map((path) => `POST /identity/entity${path}`),
    fields: {
      id: elsewhere(ENTITIES, 'entity not found from id'),
      name: elsewhere(ENTITIES, "name: 'ada'"),
      metadata: shown(
        { team: 'a' },
        proof('src/policies/domain/path-template.test.ts', 'metadata'),
      ),
      policies: shown(['team'], proof(ENTITIES, "policies: ['team']")),
      disabled: shown(true, proof(ENTITIES, 'disabled: true')),
    },
  },
  'merged entities': {
    routes: ['POST /identity/entity/merge'],
    least: { from_entity_ids: [], to_entity_id: 'none' },
    fields: {
      from_entity_ids: elsewhere(MERGE, 'from_entity_ids: [fromId]'),
      to_entity_id: elsewhere(MERGE, 'to_entity_id: intoId'),
      force: elsewhere(MERGE, 'force: true'),
      conflicting_alias_ids_to_keep: elsewhere(MERGE, 'conflicting_alias_ids_to_keep'),
    },
  },
  'entities that are named': {
    routes: ['POST /identity/entity/batch-delete', 'POST /identity/lookup/entity'],
    least: { entity_ids: [] },
    fields: {
      entity_ids: elsewhere(ENTITIES, 'entity_ids'),
      id: elsewhere(ENTITIES, '{ id }'),
      name: elsewhere(ENTITIES, '{ name }'),
      alias_id: elsewhere(ENTITIES, '{ alias_id }'),
      alias_name: elsewhere(ENTITIES, 'alias_name'),
      alias_mount_accessor: elsewhere(ENTITIES, 'alias_mount_accessor'),
    },
  },
  'aliases of entities': {
    routes: ['POST /identity/entity-alias', 'POST /identity/entity-alias/id/{id}'],
    fields: {
      id: elsewhere(ENTITIES, 'invalid alias ID provided'),
      name: elsewhere(ENTITIES, "name: 'alice'"),
      mount_accessor: elsewhere(ENTITIES, 'mount_accessor: people.accessor'),
      canonical_id: elsewhere(ENTITIES, 'canonical_id: b'),
      entity_id: elsewhere(ENTITIES, 'entity_id: b'),
      custom_metadata: shown({ team: 'a' }, RETURNED_ONLY),
    },
  },
  groups: {
    routes: ['', '/id/{id}', '/name/{name}'].map((path) => `POST /identity/group${path}`),
    fields: {
      id: elsewhere(GROUPS, 'group not found from id'),
      name: elsewhere(GROUPS, "name: 'crew'"),
      type: shown('external', proof(GROUPS, "type: 'external'")),
      metadata: shown({ team: 'a' }, RETURNED_ONLY),
      policies: shown(['team'], proof(GROUPS, "policies: ['team']")),
      member_entity_ids: elsewhere(GROUPS, 'member_entity_ids: [id]'),
      member_group_ids: elsewhere(GROUPS, 'member_group_ids: [inner]'),
    },
  },
  'groups that are named': {
    routes: ['POST /identity/lookup/group'],
    fields: {
      id: elsewhere(GROUPS, '{ id }'),
      name: elsewhere(GROUPS, "{ name: 'Crew' }"),
      alias_id: elsewhere(GROUPS, '{ alias_id }'),
      alias_name: elsewhere(GROUPS, 'alias_name'),
      alias_mount_accessor: elsewhere(GROUPS, 'alias_mount_accessor'),
    },
  },
  'aliases of groups': {
    routes: ['POST /identity/group-alias', 'POST /identity/group-alias/id/{id}'],
    fields: {
      id: elsewhere(GROUPS, 'invalid group alias ID'),
      name: elsewhere(GROUPS, "{ name: 'crew' }"),
      mount_accessor: elsewhere(GROUPS, 'mount_accessor: people.accessor'),
      canonical_id: elsewhere(GROUPS, 'canonical_id: id'),
    },
  },
  'methods of login MFA': {
    routes: ['POST /identity/mfa/method/totp', 'POST /identity/mfa/method/totp/{method_id}'],
    least: { issuer: 'Keelson' },
    fields: Object.fromEntries(
      [
        'method_name',
        'issuer',
        'period',
        'key_size',
        'qr_size',
        'algorithm',
        'digits',
        'skew',
        'max_validation_attempts',
      ].map((name) => [name, elsewhere(MFA, name)]),
    ),
  },
  'keys of login MFA': {
    routes: ['generate', 'admin-generate', 'admin-destroy'].map(
      (deed) => `POST /identity/mfa/method/totp/${deed}`,
    ),
    least: { method_id: 'none', entity_id: 'none' },
    fields: {
      method_id: elsewhere(MFA, 'method_id: alice.methodId'),
      entity_id: elsewhere(MFA, 'entity_id: alice.entityId'),
    },
  },
  'methods of passkeys': {
    routes: ['', '/{method_id}'].map((path) => `POST /identity/mfa/method/webauthn${path}`),
    fields: Object.fromEntries(
      [
        'method_name',
        'relying_party_name',
        'relying_party_id',
        'relying_party_origins',
        'user_verification',
        'max_validation_attempts',
      ].map((name) => [name, elsewhere(PASSKEYS, name)]),
    ),
  },
  passkeys: {
    routes: ['own/begin', 'own/finish', 'own/rename', 'own/remove', 'admin-destroy'].map(
      (deed) => `POST /identity/mfa/method/webauthn/${deed}`,
    ),
    least: {
      method_id: 'none',
      entity_id: 'none',
      passkey_id: 'none',
      credential: {},
      confirmation: {},
    },
    fields: {
      method_id: elsewhere(PASSKEYS, 'method_id: alice.methodId'),
      entity_id: elsewhere(PASSKEYS, 'entity_id: alice.entityId'),
      passkey_id: elsewhere(PASSKEYS, 'passkey_id: other'),
      name: elsewhere(PASSKEYS, "name: 'laptop'"),
      credential: elsewhere(PASSKEYS, 'credential: added.create(ORIGIN, registration)'),
      confirmation: elsewhere(PASSKEYS, 'confirmation: confirming.get(ORIGIN, confirmation)'),
    },
  },
  'login enforcements': {
    routes: ['POST /identity/mfa/login-enforcement/{name}'],
    least: { mfa_method_ids: ['none'], auth_method_types: ['userpass'] },
    fields: {
      mfa_method_ids: elsewhere(MFA, 'mfa_method_ids: [methodId]'),
      auth_method_accessors: elsewhere(MFA, 'auth_method_accessors: [person.accessor]'),
      auth_method_types: elsewhere(MFA, "auth_method_types: ['userpass']"),
      identity_group_ids: elsewhere(MFA, 'identity_group_ids: [id]'),
      identity_entity_ids: elsewhere(MFA, 'identity_entity_ids: [entityId]'),
    },
  },
  'second halves of logins': {
    routes: ['POST /sys/mfa/validate'],
    least: { mfa_request_id: 'none', mfa_payload: {} },
    fields: {
      mfa_request_id: elsewhere(MFA, "mfa_request_id: 'x'"),
      mfa_payload: elsewhere(MFA, "mfa_payload: { a: 'b' }"),
    },
  },
};
