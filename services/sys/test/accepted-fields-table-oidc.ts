/** The requests of `identity/oidc`: a part of the table in `accepted-fields-table.ts`. */
import { elsewhere, type FieldGroup, proof, RETURNED_ONLY, shown } from './field-effects.ts';

const TOKENS = 'src/oidc/identity-tokens.integration.test.ts';
const SIGN_IN = 'src/oidc/sign-in.integration.test.ts';
const CLIENTS = 'src/oidc/clients.integration.test.ts';

export const OIDC_FIELDS: Readonly<Record<string, FieldGroup>> = {
  'the issuer of identity tokens': {
    routes: ['POST /identity/oidc/config'],
    fields: { issuer: elsewhere(TOKENS, "{ issuer: 'https://team.example:8443' }") },
  },
  'named keys': {
    routes: ['POST /identity/oidc/key/{name}'],
    fields: {
      rotation_period: elsewhere(TOKENS, "rotation_period: '48h'"),
      verification_ttl: elsewhere(TOKENS, "verification_ttl: '24h'"),
      allowed_client_ids: elsewhere(TOKENS, "allowed_client_ids: 'another'"),
      algorithm: elsewhere(TOKENS, "algorithm: 'ES256'"),
    },
  },
  'rotations of named keys': {
    routes: ['POST /identity/oidc/key/{name}/rotate'],
    fields: { verification_ttl: elsewhere(TOKENS, 'verification_ttl: 0') },
  },
  'roles of identity tokens': {
    routes: ['POST /identity/oidc/role/{name}'],
    least: { key: 'default' },
    fields: {
      key: elsewhere(TOKENS, "{ key: 'shown'"),
      template: elsewhere(TOKENS, "template: Buffer.from(template).toString('base64')"),
      client_id: elsewhere(TOKENS, "client_id: 'mine'"),
      ttl: elsewhere(TOKENS, "ttl: '1h'"),
    },
  },
  'introspected tokens': {
    routes: ['POST /identity/oidc/introspect'],
    least: { token: 'none' },
    fields: {
      token: elsewhere(TOKENS, 'body: { token, client_id }'),
      client_id: elsewhere(TOKENS, "introspect(token, 'another')"),
    },
  },
  scopes: {
    routes: ['POST /identity/oidc/scope/{name}'],
    fields: {
      template: shown('{"a":1}', proof(SIGN_IN, "post('scope/mail', { template")),
      description: shown('for people', RETURNED_ONLY),
    },
  },
  assignments: {
    routes: ['POST /identity/oidc/assignment/{name}'],
    fields: {
      entity_ids: elsewhere(SIGN_IN, 'entity_ids: alice.entity'),
      group_ids: elsewhere(SIGN_IN, 'group_ids: [group.body.data.id]'),
    },
  },
  clients: {
    routes: ['POST /identity/oidc/client/{name}'],
    fields: {
      key: elsewhere(SIGN_IN, "key: 'narrow'"),
      redirect_uris: elsewhere(SIGN_IN, 'redirect_uris: [CALLBACK]'),
      assignments: elsewhere(SIGN_IN, "assignments: 'staff'"),
      client_type: elsewhere(SIGN_IN, "client_type: 'public'"),
      id_token_ttl: elsewhere(CLIENTS, "id_token_ttl: '25h'"),
      access_token_ttl: elsewhere(SIGN_IN, 'access_token_ttl: 600'),
    },
  },
  providers: {
    routes: ['POST /identity/oidc/provider/{name}'],
    fields: {
      issuer: elsewhere(CLIENTS, "issuer: 'https://a.example/x'"),
      allowed_client_ids: elsewhere(SIGN_IN, 'allowed_client_ids: spa.id'),
      scopes_supported: elsewhere(CLIENTS, "scopes_supported: ['mail', 'other']"),
    },
  },
  'requests for codes': {
    routes: ['POST /identity/oidc/provider/{name}/authorize'],
    fields: {
      client_id: elsewhere(SIGN_IN, "client_id: 'unknown'"),
      redirect_uri: elsewhere(SIGN_IN, "redirect_uri: 'https://evil.example/'"),
      scope: elsewhere(SIGN_IN, "scope: 'mail'"),
      response_type: elsewhere(SIGN_IN, "response_type: 'token'"),
      state: elsewhere(SIGN_IN, "state: 'a state'"),
      nonce: elsewhere(SIGN_IN, "nonce: 'a nonce'"),
      code_challenge: elsewhere(SIGN_IN, "code_challenge: 'short'"),
      code_challenge_method: elsewhere(SIGN_IN, "code_challenge_method: 'S512'"),
      max_age: elsewhere(SIGN_IN, 'max_age: 100'),
      request: elsewhere(SIGN_IN, "request: 'x'"),
      request_uri: elsewhere(SIGN_IN, "request_uri: 'https://app.example/r'"),
    },
  },
  'redeemed codes': {
    routes: ['POST /identity/oidc/provider/{name}/token'],
    fields: {
      grant_type: elsewhere(SIGN_IN, "grant_type: 'password'"),
      code: elsewhere(SIGN_IN, "code: 'x'.repeat(32)"),
      redirect_uri: elsewhere(SIGN_IN, "redirect_uri: 'https://other.example/'"),
      client_id: elsewhere(SIGN_IN, 'client_id: app.id, client_secret: app.secret'),
      client_secret: elsewhere(SIGN_IN, "client_secret: 'x'"),
      code_verifier: elsewhere(SIGN_IN, 'code_verifier: VERIFIER'),
    },
  },
};
