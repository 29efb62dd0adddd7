/** `identity/mfa/method/webauthn`: passkeys as a method of login MFA, and those that entities have. */
import type { Route } from '@keelson/edge';
import { field, type OperationContext, secretsRoutes } from '@keelson/secrets-api';
import { deleteMethod, putMethod } from './method-operations.ts';
import {
  between,
  entityId,
  listing,
  BASE as METHODS,
  methodId,
  reading,
  requireEntity,
  TAG,
} from './method-routes.ts';
import type { MfaContext } from './mfa-context.ts';
import { begunChangeDocument, ownPasskeysDocument, passkeyDocument } from './passkey-document.ts';
import {
  addPasskey,
  beginPasskeyChange,
  destroyPasskeys,
  listPasskeyMethodsFor,
  listPasskeys,
  removePasskey,
  renamePasskey,
} from './passkey-enrolment-operations.ts';

const BASE = `${METHODS}/webauthn`;
/** A credential, whose parts have limits of their own. */
const MAX_CREDENTIAL = 24_576;
/** The longest id that an authenticator may give, in base64url. */
const MAX_ID = 1364;

const METHOD = {
  method_name: field.string({
    description: 'Name, unique in the namespace.',
    default: '',
    maxLength: 128,
  }),
  relying_party_name: field.string({
    description: 'Name of this installation in browsers and authenticators.',
    default: 'Keelson',
    maxLength: 64,
    check: (name) =>
      name === '' ? 'relying_party_name is a text of 1 to 64 characters' : undefined,
  }),
  relying_party_id: field.string({
    description:
      'Domain that passkeys are bound to: the host of each origin, or a domain above it; "" for the host of the first.',
    default: '',
    maxLength: 253,
  }),
  relying_party_origins: field.commaList({
    description:
      'Addresses of the console, such as `https://keelson.example.com`; none for KEELSON_PUBLIC_URL.',
    default: [],
    maxLength: 2048,
    check: (origins) =>
      origins.length <= 8 ? undefined : 'relying_party_origins has at most 8 addresses',
  }),
  user_verification: field.string({
    description:
      '"required" if the authenticator must know the person, by a finger or PIN for instance; "preferred" if a touch is enough where it cannot.',
    default: 'required',
    check: (text) =>
      isVerification(text) ? undefined : 'user_verification is required or preferred',
  }),
  max_validation_attempts: field.integer({
    description: 'Failures in a row after which the next attempt has to wait, longer after each.',
    default: 5,
    check: between('max_validation_attempts', 1, 100),
  }),
} as const;

const isVerification = (text: string): text is 'required' | 'preferred' =>
  text === 'required' || text === 'preferred';

const passkeyName = field.string({
  description: 'Name by which the person knows the passkey.',
  default: 'passkey',
  maxLength: 64,
  check: (name) => (name === '' ? 'name is a text of 1 to 64 characters' : undefined),
});
const passkeyId = field.string({
  description: 'Id of the passkey.',
  required: true,
  maxLength: MAX_ID,
});
const confirmation = {
  description:
    'A passkey that the entity has, as `PublicKeyCredential.toJSON()` of the browser has it.',
  maxLength: MAX_CREDENTIAL,
} as const;

const ownRoutes = (context: MfaContext): Route[] => [
  ...secretsRoutes({
    path: `${BASE}/own`,
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary:
          'Read the passkeys of the entity of the token, and the methods for which it may have some',
        handle: async (exchange) => {
          const entity = requireEntity(exchange);
          const methods = await listPasskeyMethodsFor(context, entity);
          return { data: ownPasskeysDocument(methods, await listPasskeys(context, entity)) };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/own/begin`,
    tag: TAG,
    fields: { method_id: methodId },
    operations: {
      update: {
        summary: 'Begin to add a passkey to the entity of the token, or to remove one',
        handle: async (exchange) => {
          const entity = requireEntity(exchange);
          const begun = await beginPasskeyChange(context, entity, exchange.fields.method_id);
          return { data: begunChangeDocument(begun) };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/own/finish`,
    tag: TAG,
    fields: {
      method_id: methodId,
      name: passkeyName,
      credential: field.map({
        description: 'The new passkey, as `PublicKeyCredential.toJSON()` of the browser has it.',
        required: true,
        maxLength: MAX_CREDENTIAL,
      }),
      confirmation: field.map(confirmation),
    },
    operations: {
      update: {
        summary: 'Add a passkey to the entity of the token',
        handle: async (exchange) => {
          const { fields } = exchange;
          const id = await addPasskey(context, requireEntity(exchange), {
            methodId: fields.method_id,
            name: fields.name,
            credential: fields.credential,
            confirmation: fields.confirmation && JSON.stringify(fields.confirmation),
          });
          return { data: { passkey_id: id } };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/own/rename`,
    tag: TAG,
    fields: { method_id: methodId, passkey_id: passkeyId, name: passkeyName },
    operations: {
      update: {
        summary: 'Give a passkey of the entity of the token another name',
        handle: async (exchange) => {
          const { method_id, passkey_id, name } = exchange.fields;
          const renamed = { methodId: method_id, id: passkey_id, name };
          await renamePasskey(context, requireEntity(exchange), renamed);
          return undefined;
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/own/remove`,
    tag: TAG,
    fields: {
      method_id: methodId,
      passkey_id: passkeyId,
      confirmation: field.map({ ...confirmation, required: true }),
    },
    operations: {
      update: {
        summary: 'Remove a passkey of the entity of the token',
        handle: async (exchange) => {
          const { method_id, passkey_id, confirmation: given } = exchange.fields;
          await removePasskey(context, requireEntity(exchange), {
            methodId: method_id,
            id: passkey_id,
            confirmation: JSON.stringify(given),
          });
          return undefined;
        },
      },
    },
  }),
];

const administrationRoutes = (context: MfaContext): Route[] => [
  ...secretsRoutes({
    path: `${BASE}/entity/:entity_id`,
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary: 'Read the passkeys of an entity',
        handle: async ({ namespace, params: { entity_id: id = '' } }) => {
          const passkeys = await listPasskeys(context, { id, namespaceId: namespace.id });
          return { data: { passkeys: passkeys.map(passkeyDocument) } };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/admin-destroy`,
    tag: TAG,
    fields: {
      method_id: methodId,
      entity_id: entityId,
      passkey_id: field.string({
        description: 'Id of the passkey; "" for all that the entity has for the method.',
        default: '',
        maxLength: MAX_ID,
      }),
    },
    operations: {
      update: {
        summary: 'Remove passkeys of an entity, for whoever has lost the authenticator',
        handle: async ({ fields, namespace }) => {
          const entity = { id: fields.entity_id, namespaceId: namespace.id };
          await destroyPasskeys(context, entity, fields.method_id, fields.passkey_id);
          return undefined;
        },
      },
    },
  }),
];

type Given = OperationContext<{
  readonly [K in keyof typeof METHOD]: ReturnType<(typeof METHOD)[K]['read']>;
}>;

export const passkeyRoutes = (context: MfaContext): Route[] => {
  const put = ({ namespace, fields }: Given, id: string | undefined): Promise<string> => {
    const { user_verification: verification } = fields;
    return putMethod(context, namespace.id, id, {
      type: 'webauthn',
      name: fields.method_name,
      relyingPartyName: fields.relying_party_name,
      relyingPartyId: fields.relying_party_id.toLowerCase(),
      origins: [...fields.relying_party_origins],
      userVerification: isVerification(verification) ? verification : 'required',
      maxAttempts: fields.max_validation_attempts,
    });
  };
  return [
    ...ownRoutes(context),
    ...administrationRoutes(context),
    ...secretsRoutes({
      path: BASE,
      tag: TAG,
      fields: {},
      operations: {
        list: {
          summary: 'List the methods of passkeys of the namespace',
          handle: listing(context, 'webauthn'),
        },
      },
    }),
    ...secretsRoutes({
      path: BASE,
      tag: TAG,
      fields: METHOD,
      operations: {
        update: {
          summary: 'Create a method of passkeys',
          handle: async (exchange) => ({ data: { method_id: await put(exchange, undefined) } }),
        },
      },
    }),
    ...secretsRoutes({
      path: `${BASE}/:method_id`,
      tag: TAG,
      hasSettings: true,
      fields: METHOD,
      operations: {
        read: { summary: 'Read a method of passkeys', handle: reading(context, 'webauthn') },
        update: {
          summary: 'Replace a method of passkeys; parameters that are not given get their defaults',
          handle: async (exchange) => {
            await put(exchange, exchange.params['method_id'] ?? '');
            return undefined;
          },
        },
        delete: {
          summary: 'Delete a method of passkeys that no login enforcement names',
          handle: async ({ namespace, params: { method_id: id = '' } }) => {
            await deleteMethod(context, namespace.id, id, 'webauthn');
            return undefined;
          },
        },
      },
    }),
  ];
};
