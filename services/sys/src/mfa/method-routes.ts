/** `identity/mfa/method`: passcodes of authenticator apps, and the keys that entities have for them; passkeys. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { field, type OperationContext, type Result, secretsRoutes } from '@keelson/secrets-api';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import type { MethodType } from './domain/mfa-method.ts';
import { type Enrolment, endEnrolment, enrol } from './enrolment-operations.ts';
import { deleteMethod, listMethodsOf, putMethod, readMethod } from './method-operations.ts';
import type { MfaContext } from './mfa-context.ts';
import { listDocument, methodDocument } from './mfa-document.ts';
import { qrCode } from './qr-code.ts';

export const TAG = 'login MFA';
export const BASE = '/identity/mfa/method';

export const between =
  (name: string, least: number, most: number, unit = '') =>
  (value: number): string | undefined =>
    value >= least && value <= most ? undefined : `${name} is ${least} to ${most}${unit}`;

const ALGORITHMS = ['SHA1', 'SHA256', 'SHA512'] as const;
type Algorithm = (typeof ALGORITHMS)[number];
const isAlgorithm = (text: string): text is Algorithm => ALGORITHMS.some((one) => one === text);

const METHOD = {
  method_name: field.string({
    description: 'Name, unique in the namespace.',
    default: '',
    maxLength: 128,
  }),
  issuer: field.string({
    description: 'Name of this installation in authenticator apps.',
    required: 'issuer is missing: the name of this installation in authenticator apps',
    maxLength: 128,
    check: (issuer) =>
      issuer === '' || issuer.includes(':') ? 'issuer is a text without a colon' : undefined,
  }),
  period: field.durationSeconds({
    description: 'Time after which the next passcode is shown.',
    default: 30,
    check: between('period', 10, 300, ' seconds'),
  }),
  key_size: field.integer({
    description: 'Length of a key in bytes.',
    default: 20,
    check: between('key_size', 16, 64, ' bytes'),
  }),
  qr_size: field.integer({
    description: 'Edge of the QR code in pixels; 0 for none.',
    default: 200,
    check: between('qr_size', 0, 1000, ' pixels'),
  }),
  algorithm: field.string({
    description: '"SHA1", "SHA256" or "SHA512".',
    default: 'SHA1',
    check: (text) => (isAlgorithm(text) ? undefined : 'algorithm is SHA1, SHA256 or SHA512'),
  }),
  digits: field.integer({
    description: 'Length of a passcode.',
    default: 6,
    check: (digits) => (digits === 6 || digits === 8 ? undefined : 'digits is 6 or 8'),
  }),
  skew: field.integer({
    description: 'Periods before and after the present one whose passcodes are accepted.',
    default: 1,
    check: (skew) => (skew === 0 || skew === 1 ? undefined : 'skew is 0 or 1'),
  }),
  max_validation_attempts: field.integer({
    description:
      'Wrong passcodes in a row after which the next one has to wait, longer after each.',
    default: 5,
    check: between('max_validation_attempts', 1, 100),
  }),
} as const;

export const methodId = field.string({
  description: 'Id of the method.',
  required: true,
  maxLength: 64,
});
export const entityId = field.string({
  description: 'Id of the entity.',
  required: true,
  maxLength: 64,
});

const enrolmentAnswer = async (
  enrolment: Enrolment | undefined,
  warnings: string[],
): Promise<Result> => {
  if (enrolment === undefined) {
    warnings.push('the entity has a key for this MFA method already: destroy it first');
    return undefined;
  }
  const { url, qrPixels } = enrolment;
  const barcode = qrPixels === 0 ? '' : (await qrCode(url, qrPixels)).toString('base64');
  return { data: { barcode, url } };
};

export const requireEntity = ({ caller }: OperationContext<unknown>): EntityRef => {
  if (caller === undefined || caller.entityId === '')
    throw new KeelsonError('request.invalid', {
      text: 'the token has no entity: only who has signed in has a second factor',
    });
  return { id: caller.entityId, namespaceId: caller.namespace?.id ?? '' };
};

const enrolmentRoutes = (context: MfaContext): Route[] => [
  ...secretsRoutes({
    path: `${BASE}/totp/generate`,
    tag: TAG,
    fields: { method_id: methodId },
    operations: {
      update: {
        summary: 'Make a key for the entity of the token; it is shown once',
        handle: async (exchange) =>
          enrolmentAnswer(
            await enrol(context, requireEntity(exchange), exchange.fields.method_id),
            exchange.warnings,
          ),
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/totp/admin-generate`,
    tag: TAG,
    fields: { method_id: methodId, entity_id: entityId },
    operations: {
      update: {
        summary: 'Make a key for an entity; it is shown once',
        handle: async ({ fields, namespace, warnings }) =>
          enrolmentAnswer(
            await enrol(
              context,
              { id: fields.entity_id, namespaceId: namespace.id },
              fields.method_id,
            ),
            warnings,
          ),
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/totp/admin-destroy`,
    tag: TAG,
    fields: { method_id: methodId, entity_id: entityId },
    operations: {
      update: {
        summary: 'Destroy the key of an entity, so that another can be made',
        handle: async ({ fields, namespace }) => {
          const entity = { id: fields.entity_id, namespaceId: namespace.id };
          await endEnrolment(context, entity, fields.method_id);
          return undefined;
        },
      },
    },
  }),
];

/** Lists the methods of the namespace. @param type undefined for all */
export const listing =
  (context: MfaContext, type?: MethodType) =>
  async ({ namespace }: OperationContext<unknown>): Promise<Result> => {
    const methods = await listMethodsOf(context, namespace.id, type);
    return {
      data: listDocument(
        methods.map((method) => [method.id, methodDocument(method, namespace.path)] as const),
      ),
    };
  };

/** Reads a method of the namespace. @param type undefined for any */
export const reading =
  (context: MfaContext, type?: MethodType) =>
  async ({
    namespace,
    params: { method_id: id = '' },
  }: OperationContext<unknown>): Promise<Result> => {
    const method = await readMethod(context, namespace.id, id, type);
    return method && { data: methodDocument(method, namespace.path) };
  };

export const mfaMethodRoutes = (context: MfaContext): Route[] => {
  const put = async (
    {
      namespace,
      fields,
    }: OperationContext<{
      readonly [K in keyof typeof METHOD]: ReturnType<(typeof METHOD)[K]['read']>;
    }>,
    id: string | undefined,
  ): Promise<string> => {
    const { algorithm } = fields;
    return putMethod(context, namespace.id, id, {
      type: 'totp',
      name: fields.method_name,
      issuer: fields.issuer,
      periodSeconds: fields.period,
      keyBytes: fields.key_size,
      qrPixels: fields.qr_size,
      algorithm: isAlgorithm(algorithm) ? algorithm : 'SHA1',
      digits: fields.digits,
      skew: fields.skew,
      maxAttempts: fields.max_validation_attempts,
    });
  };
  return [
    ...enrolmentRoutes(context),
    ...secretsRoutes({
      path: BASE,
      tag: TAG,
      fields: {},
      operations: {
        list: { summary: 'List the MFA methods of the namespace', handle: listing(context) },
      },
    }),
    ...secretsRoutes({
      path: `${BASE}/totp`,
      tag: TAG,
      fields: {},
      operations: {
        list: {
          summary: 'List the TOTP methods of the namespace',
          handle: listing(context, 'totp'),
        },
      },
    }),
    ...secretsRoutes({
      path: `${BASE}/totp`,
      tag: TAG,
      fields: METHOD,
      operations: {
        update: {
          summary: 'Create a TOTP method',
          handle: async (exchange) => ({ data: { method_id: await put(exchange, undefined) } }),
        },
      },
    }),
    ...secretsRoutes({
      path: `${BASE}/:method_id`,
      tag: TAG,
      fields: {},
      operations: { read: { summary: 'Read an MFA method', handle: reading(context) } },
    }),
    ...secretsRoutes({
      path: `${BASE}/totp/:method_id`,
      tag: TAG,
      hasSettings: true,
      fields: METHOD,
      operations: {
        read: { summary: 'Read a TOTP method', handle: reading(context, 'totp') },
        update: {
          summary: 'Replace a TOTP method; parameters that are not given get their defaults',
          handle: async (exchange) => {
            await put(exchange, exchange.params['method_id'] ?? '');
            return undefined;
          },
        },
        delete: {
          summary: 'Delete a TOTP method that no login enforcement names',
          handle: async ({ namespace, params: { method_id: id = '' } }) => {
            await deleteMethod(context, namespace.id, id, 'totp');
            return undefined;
          },
        },
      },
    }),
  ];
};
